"""A model whose language model is on a server: codes come from there and become sound here.

    from pathlib import Path
    from s2s.tts.codec_stream.source import SpeechWish
    from s2s.tts.qwen3 import RemoteServer, open_remote_model

    model = open_remote_model("0.6b-customvoice", Path("~/qwen3"), RemoteServer("ws://kitchen:8765"))
    for chunk in model.speak(SpeechWish("Hello.", voice="ryan")).chunks:
        ...

Only the codec is needed here, and fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

from s2s.system.remote.errors import RemoteError
from s2s.system.remote.web_socket import socket_address
from s2s.tts.codec_stream.source import CodecFormat, SpeechWish
from s2s.tts.qwen3.backends import AUTO
from s2s.tts.qwen3.calibrate.cache import CalibrationCache
from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.content_hash import codec_content_hash
from s2s.tts.qwen3.checkpoint.hub import find_codec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.open import OpenedCodec, open_decoder, opened_here
from s2s.tts.qwen3.engine.chunk_schedule import ChunkSchedule, ScheduleConfig
from s2s.tts.qwen3.engine.decode_loop import Frame, FrameItem
from s2s.tts.qwen3.engine.edges import StartTrim, StartTrimmer
from s2s.tts.qwen3.engine.engine import RETRIES, Speech
from s2s.tts.qwen3.engine.report import Report
from s2s.tts.qwen3.engine.sounding import Chunk, Sounding
from s2s.tts.qwen3.engine.states import WarmStarts
from s2s.tts.qwen3.engine.stop_rules import StopReason
from s2s.tts.qwen3.errors import RemoteLanguageError
from s2s.tts.qwen3.folders import (
    CALIBRATION_FILE,
    CONVERTED_FOLDER,
    GRAPHS_FOLDER,
    KERNEL_FOLDER,
)
from s2s.tts.qwen3.interfaces import Stale, never
from s2s.tts.qwen3.remote.dictation import Dictation
from s2s.tts.qwen3.remote.language import CodecLine, RemoteLanguage, RemoteServer, RemoteUtterance

PATH = "/v1/audio/speech/stream"
PORT = 8765
"""Of `serve`, where an address names none."""


@dataclass(frozen=True, slots=True)
class ServerVoices:
    """What the server told of its model; empty where it tells nothing."""

    voices: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """ISO 639-1."""
    model: str = ""


@dataclass(slots=True, eq=False)
class RemoteModel:
    """Calls may come from several threads."""

    language: RemoteLanguage
    decoder: CheckpointDecoder
    codec: str
    """Where it decodes, as in `backends.codec_placement`."""
    sample_rate_hz: int
    start_trim: StartTrim = field(default_factory=StartTrim)
    told: ServerVoices = field(default_factory=ServerVoices)
    _warm_starts: WarmStarts[CodecState] = field(init=False)
    _feeds: dict[str | None, bool] = field(default_factory=dict[str | None, bool], init=False)
    """By voice, as its answers told."""

    def __post_init__(self) -> None:
        self._warm_starts = WarmStarts(self.decoder)

    def speak(
        self,
        wish: SpeechWish,
        *,
        schedule: ScheduleConfig | None = None,
        stale: Stale = never,
        about: bool = False,
    ) -> Speech:
        """An utterance, as `Engine.speak` gives it. about: ask what voices there are, too; the
        answer is in ``told``. A text that is still being written is spoken along, if the server
        can do that (see `takes_words`), and closed when the speech ends.

        Asking for chunks raises RemoteLanguageError, after all that came has been given.
        """
        report = Report()
        chunks = self._chunks(wish, schedule or ScheduleConfig(), stale, report, about)
        return Speech(chunks, report)

    def takes_words(self, voice: str | None) -> bool:
        """The server speaks along with a text that is still being written, with this voice: known
        from the first answer that it has spoken."""
        return self._feeds.get(voice, False)

    def close(self) -> None:
        """Idempotent."""
        self.language.close()
        self._warm_starts.close()

    def _chunks(
        self,
        wish: SpeechWish,
        schedule: ScheduleConfig,
        stale: Stale,
        report: Report,
        about: bool,
    ) -> Generator[Chunk, None, None]:
        report.began_s = perf_counter()
        dictation = None if isinstance(wish.text, str) else Dictation(wish.text, stale)
        with closing(dictation) if dictation is not None else nullcontext():
            for attempt in range(RETRIES + 1):
                again = replace(wish, attempt=attempt)
                utterance = self.language.utterance(again, stale, about=about, dictation=dictation)
                with closing(utterance):
                    last = attempt == RETRIES
                    sounding = yield from self._spoken(utterance, schedule, stale, report, last)
                if sounding is None or not sounding.discarded:
                    return
                report.again()

    def _spoken(
        self,
        utterance: RemoteUtterance,
        schedule: ScheduleConfig,
        stale: Stale,
        report: Report,
        last: bool,
    ) -> Generator[Chunk, None, Sounding[CodecState] | None]:
        """One sampling run. None when it was cancelled before it began."""
        begun = utterance.begin()
        if begun is None:
            report.stop_reason = StopReason.STOPPED
            return None
        report.prefill_s = perf_counter() - report.began_s
        start = begun.start
        self._feeds[utterance.voice] = bool(start.feeds)
        if start.voices is not None or start.languages is not None:
            self.told = ServerVoices(
                tuple(start.voices or ()), tuple(start.languages or ()), start.model or ""
            )
        with (
            closing(self._warm_starts.state(begun.prefix)) as state,
            closing(_noted(utterance.items(), report)) as items,
        ):
            sounding = Sounding(
                self.decoder,
                state,
                ChunkSchedule(schedule),
                StartTrimmer(self.start_trim, self.sample_rate_hz, self.decoder.samples_per_frame),
                text_late=lambda _: False,
                stale=stale,
                report=report,
            )
            # A server of version 1 knows no attempts: another would say the same again.
            yield from sounding.chunks(items, last=last or utterance.version < 2)
        return sounding


def _noted(
    items: Generator[FrameItem, None, None], report: Report
) -> Generator[FrameItem, None, None]:
    """The same, written down: each frame with the time that lay between it and the one before."""
    with closing(items):
        for item in items:
            if isinstance(item, Frame):
                report.frames += 1
                if item.index:
                    report.talker_s.append(item.took_s)
            yield item


def open_remote_model(
    source: str | Path,
    home: Path,
    server: RemoteServer,
    *,
    codec: str = AUTO,
    threads: int = 1,
    connect: Callable[[], CodecLine] | None = None,
) -> RemoteModel:
    """The codec of a model, fetched if need be, in front of a server that has the rest of it.

    source, home, codec: as for `open_model`. connect: makes the sockets, in place of the server's
    address. Nothing is connected yet. Raises Qwen3Error.
    """
    home = home.expanduser()
    folder = find_codec(source, home / CONVERTED_FOLDER)
    spec = read_codec_spec(folder)
    cache = CalibrationCache(home / CALIBRATION_FILE)

    def opened(placement: str) -> CheckpointDecoder:
        return open_decoder(
            folder,
            home / GRAPHS_FOLDER,
            threads=threads,
            placement=placement,
            kernels=home / KERNEL_FOLDER,
        )

    if codec == AUTO:
        made = opened_here(cache.backends(f"codec {threads}"), opened)
    else:
        made = OpenedCodec(opened(codec), codec)
    decoder = made.decoder
    wanted = codec_format(decoder, spec.sample_rate_hz, folder)
    try:
        url = socket_address(server.url, PATH, PORT)
    except RemoteError as error:
        raise RemoteLanguageError(f"tts.language_model: {error}") from error
    language = RemoteLanguage(server.at(url), wanted, connect)
    return RemoteModel(language, decoder, made.placement, spec.sample_rate_hz)


def codec_format(decoder: CheckpointDecoder, sample_rate_hz: int, folder: Path) -> CodecFormat:
    """What a decoder is, for the other end. folder: of its codec."""
    return CodecFormat(
        decoder.code_groups,
        decoder.codebook_size,
        sample_rate_hz / decoder.samples_per_frame,
        sample_rate_hz,
        codec_content_hash(folder),
    )
