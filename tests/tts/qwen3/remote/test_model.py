"""Speech whose codes come from elsewhere: to the bit what one engine makes, for every kind of
checkpoint and every layout of a prompt."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.core.arrays import Ids
from s2s.system.remote import RemoteError
from s2s.tts.base import TtsError
from s2s.tts.codec_stream.feeding import TextFeed
from s2s.tts.codec_stream.messages import InputCancel, InputDone, SpeechConfig, SpeechText
from s2s.tts.codec_stream.source import CodecFormat, SpeechEnd, SpeechFrame, SpeechWish
from s2s.tts.qwen3.checkpoint.spec import Generation, Kind
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.engine.chunk_schedule import ScheduleConfig
from s2s.tts.qwen3.engine.decode_loop import Frame, Stop
from s2s.tts.qwen3.engine.engine import UNTOUCHED, Engine
from s2s.tts.qwen3.engine.stop_rules import UNGUARDED, Guards, StopReason
from s2s.tts.qwen3.errors import HubError, RemoteLanguageError
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.reference import Cache
from s2s.tts.qwen3.remote.language import CodecLine, RemoteLanguage, RemoteServer
from s2s.tts.qwen3.remote.model import RemoteModel, codec_format, open_remote_model
from s2s.tts.qwen3.text.prompt import Reference, Request
from tests.support.codec_stream import PulledLine
from tests.support.qwen3_golden import GOLDEN, arrays
from tests.tts.qwen3.reference_model import CASES, open_model
from tests.tts.qwen3.tiny_codec import open_codec

FRAMES = 5
SCHEDULE = ScheduleConfig(codec_chunk_ramp=(1, 2, 3))
SERVER = RemoteServer("ws://test/v1/audio/speech/stream", window_frames=6)


@dataclass
class Source:
    """An engine's codes of one request, whatever is wished but the seed and the attempt."""

    engine: Engine[Cache, Cache, CodecState]
    request: Request
    generation: Generation
    codec_format: CodecFormat
    error: TtsError | None = None

    model = "reference"
    voices = ("ryan",)
    languages = ("en",)
    threads = 1

    def reference_codes(self, voice: str | None) -> Ids | None:
        return None if self.request.reference is None else self.request.reference.codes

    def takes_words(self, voice: str | None) -> bool:
        return self.request.streaming is True

    def codec_frames(
        self, wish: SpeechWish, stop: Callable[[], bool]
    ) -> Generator[SpeechFrame | SpeechEnd, None, None]:
        assert wish.seed is not None
        stream = self.engine.frames(
            replace(self.request, text=wish.text),
            seed=wish.seed,
            attempt=wish.attempt,
            generation=self.generation,
            stale=stop,
        )
        with closing(stream.items) as items:
            for item in items:
                match item:
                    case Frame(codes=codes):
                        yield SpeechFrame(codes)
                    case Stop(reason=reason, frames=frames):
                        if self.error is not None:
                            raise self.error
                        yield SpeechEnd(reason.name.lower(), frames)


@dataclass
class Both:
    """One engine, and a device that has its codes from it."""

    engine: Engine[Cache, Cache, CodecState]
    source: Source
    decoder: CheckpointDecoder
    lines: list[PulledLine]
    device: RemoteModel

    def here(self, wish: SpeechWish, schedule: ScheduleConfig = SCHEDULE) -> Floats:
        request = replace(self.source.request, text=wish.text)
        speech = self.engine.speak(
            request, seed=wish.seed or 0, schedule=schedule, generation=self.source.generation
        )
        return np.concatenate([each.pcm for each in speech.chunks])

    def there(self, wish: SpeechWish, schedule: ScheduleConfig = SCHEDULE) -> Floats:
        chunks = self.device.speak(wish, schedule=schedule).chunks
        return np.concatenate([each.pcm for each in chunks])


Make = Callable[..., Both]


@lru_cache
def decoder_of(folder: Path, cache: Path) -> CheckpointDecoder:
    return open_codec(folder / "speech_tokenizer", cache)


@pytest.fixture
def both(tiny_qwen3: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Makes both of a kind of checkpoint and a request."""
    cache = tmp_path_factory.getbasetemp() / "remote-graphs"

    def make(kind: str, request: Request, guards: Guards = UNGUARDED, **line: Any) -> Both:
        folder = tiny_qwen3(kind)
        model = open_model(folder)
        decoder = decoder_of(folder, cache / kind)
        generation = replace(
            model.language.spec.generation, min_new_tokens=FRAMES + 1, max_new_tokens=FRAMES + 1
        )
        engine = Engine(
            model.language,
            decoder,
            model.prompts,
            samples_per_frame=decoder.samples_per_frame,
            sample_rate_hz=24_000,
            guards=guards,
            start_trim=UNTOUCHED,
        )
        form = codec_format(decoder, 24_000, folder / "speech_tokenizer")
        source = Source(engine, request, generation, form)
        lines: list[PulledLine] = []

        def connect() -> CodecLine:
            lines.append(PulledLine(source, **line))
            return lines[-1]

        language = RemoteLanguage(SERVER, form, connect)
        device = RemoteModel(language, decoder, "onnx", 24_000, start_trim=UNTOUCHED)
        return Both(engine, source, decoder, lines, device)

    return make


def request_of(kind: str, case: dict[str, Any]) -> Request:
    reference = None
    if "mode" in case:
        reference = Reference(speaker=arrays(kind)["reference/speaker"])
        if case["mode"] == "icl":
            codes = arrays(kind)["reference/codes"].astype(np.int64)
            reference = replace(reference, codes=codes, text=GOLDEN["reference_text"])
    return Request(
        case["text"],
        language=case["language"],
        speaker=case.get("speaker"),
        instruction=case.get("instruct"),
        reference=reference,
        streaming=not case["non_streaming"],
    )


def chosen() -> list[tuple[str, dict[str, Any]]]:
    """Of each kind of checkpoint the first case, and the first of each way to clone."""
    found: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
    for kind, case in CASES:
        found.setdefault((kind, case.get("mode", "")), (kind, case))
    return list(found.values())


CHOSEN = chosen()
PLAIN = partial(Request, "Hi.", language="English", speaker="ryan")


@pytest.mark.parametrize(("kind", "case"), CHOSEN, ids=[f"{k}-{c['name']}" for k, c in CHOSEN])
def test_the_samples_are_those_of_one_engine_to_the_bit(
    kind: str, case: dict[str, Any], both: Make
) -> None:
    made = both(kind, request_of(kind, case))
    wish = SpeechWish(case["text"], seed=5)
    expected = made.here(wish)
    assert len(expected) == FRAMES * made.decoder.samples_per_frame
    assert np.array_equal(made.there(wish), expected)


def test_a_reference_prefix_is_sent_once_and_heard_before_the_first_frame(both: Make) -> None:
    kind = "0.6b-base"
    voice = Reference(
        speaker=arrays(kind)["reference/speaker"],
        codes=arrays(kind)["reference/codes"].astype(np.int64),
        text=GOLDEN["reference_text"],
    )
    made = both(kind, Request("Hi.", language="English", reference=voice))
    wish = SpeechWish("Hi.", seed=1)
    first, second = made.there(wish), made.there(wish)
    assert len(made.lines) == 1, "one socket serves all utterances"
    assert np.array_equal(first, made.here(wish))
    assert np.array_equal(second, first)
    configs = [each for each in made.lines[0].sent if isinstance(each, SpeechConfig)]
    known = [each.codec_stream.prefixes for each in configs if each.codec_stream is not None]
    assert [len(each) for each in known] == [0, 1]


def test_a_stop_cancels_it_and_the_next_answer_is_whole(both: Make) -> None:
    made = both("0.6b-customvoice", PLAIN())
    wish = SpeechWish("Hi.", seed=2)
    heard: list[Floats] = []
    speech = made.device.speak(wish, schedule=SCHEDULE, stale=lambda: bool(heard))
    for chunk in speech.chunks:
        heard.append(chunk.pcm)  # noqa: PERF401 - what is heard makes it stale
    assert len(heard) == 1
    assert speech.report.stop_reason is StopReason.STOPPED
    assert isinstance(made.lines[0].sent[-1], InputCancel)
    assert np.array_equal(made.there(wish), made.here(wish))
    assert len(made.lines) == 1


def test_a_speech_that_is_closed_is_cancelled(both: Make) -> None:
    made = both("0.6b-customvoice", PLAIN())
    speech = made.device.speak(SpeechWish("Hi.", seed=2), schedule=SCHEDULE)
    next(speech.chunks)
    speech.close()
    assert isinstance(made.lines[0].sent[-1], InputCancel)


def test_a_stop_before_the_beginning_asks_nothing(both: Make) -> None:
    made = both("0.6b-customvoice", PLAIN())
    speech = made.device.speak(SpeechWish("Hi.", seed=2), stale=lambda: True)
    assert list(speech.chunks) == []
    assert speech.report.stop_reason is StopReason.STOPPED
    assert made.lines[0].sent == []


def test_what_came_before_the_line_broke_is_heard_and_the_next_answer_reconnects(
    both: Make,
) -> None:
    made = both("0.6b-customvoice", PLAIN(), lost_after=1 + 3)
    wish = SpeechWish("Hi.", seed=2)
    speech = made.device.speak(wish, schedule=ScheduleConfig(codec_chunk_ramp=(1, 100)))
    heard: list[Floats] = []
    with pytest.raises(RemoteLanguageError, match="ws://test was lost"):
        heard.extend(each.pcm for each in speech.chunks)
    samples = np.concatenate(heard)
    assert len(samples) == 3 * made.decoder.samples_per_frame
    assert np.array_equal(samples, made.here(wish)[: len(samples)])
    assert speech.report.stop_reason is StopReason.LOST
    assert made.lines[0].closed
    again = made.device.speak(wish, schedule=SCHEDULE)
    with pytest.raises(RemoteLanguageError):
        list(again.chunks)
    assert len(made.lines) == 2


def test_a_failure_of_the_server_is_told_behind_what_came(both: Make) -> None:
    made = both("0.6b-customvoice", PLAIN())
    made.source.error = TtsError("its weights are damaged")
    speech = made.device.speak(SpeechWish("Hi.", seed=2), schedule=SCHEDULE)
    heard: list[Floats] = []
    with pytest.raises(RemoteLanguageError, match="its weights are damaged"):
        heard.extend(each.pcm for each in speech.chunks)
    assert sum(map(len, heard)) > 0
    made.source.error = None
    assert np.array_equal(
        made.there(SpeechWish("Hi.", seed=2)), made.here(SpeechWish("Hi.", seed=2))
    )
    assert len(made.lines) == 1, "the socket is as good as before"


def test_frames_that_a_guard_takes_back_are_not_heard(both: Make) -> None:
    # Every code is silence, so the guard ends it; what says nothing is the same on both ends.
    guards = Guards(silent_codes=frozenset(range(64)), silent_frames=4, frames_per_token=0)
    made = both("0.6b-customvoice", PLAIN(), guards)
    wish = SpeechWish("Hi.", seed=4)
    late = ScheduleConfig(codec_chunk_ramp=(100, 100))
    speech = made.device.speak(wish, schedule=late)
    there = [each.pcm for each in speech.chunks]
    assert speech.report.stop_reason is StopReason.SILENCE
    here = made.engine.speak(
        made.source.request, seed=4, schedule=late, generation=made.source.generation
    )
    assert [each.tolist() for each in there] == [each.pcm.tolist() for each in here.chunks]


def test_a_run_that_is_discarded_is_asked_for_again_with_other_random_numbers(both: Make) -> None:
    guards = Guards(silent_frames=0, same_frames=1, repeats=0, frames_per_token=0)
    made = both("0.6b-customvoice", PLAIN(), guards)
    wish = SpeechWish("Hi.", seed=4)
    late = ScheduleConfig(codec_chunk_ramp=(100, 100))
    speech = made.device.speak(wish, schedule=late)
    there = [each.pcm.tolist() for each in speech.chunks]
    here = made.engine.speak(
        made.source.request, seed=4, schedule=late, generation=made.source.generation
    )
    assert there == [each.pcm.tolist() for each in here.chunks]
    assert speech.report.retries == here.report.retries == 2
    configs = [each for each in made.lines[0].sent if isinstance(each, SpeechConfig)]
    assert [c.codec_stream.attempt for c in configs if c.codec_stream is not None] == [0, 1, 2]


def test_a_text_that_is_fed_is_told_again_in_place_of_a_run_that_is_discarded(both: Make) -> None:
    guards = Guards(silent_frames=0, same_frames=1, repeats=0, frames_per_token=0)
    made = both("0.6b-customvoice", PLAIN(), guards)
    late = ScheduleConfig(codec_chunk_ramp=(100, 100))
    feed = TextFeed()
    for piece in ("H", "i."):
        feed.push(piece)
    feed.end()
    speech = made.device.speak(SpeechWish(feed, seed=4), schedule=late)
    there = [each.pcm.tolist() for each in speech.chunks]
    here = made.engine.speak(
        made.source.request, seed=4, schedule=late, generation=made.source.generation
    )
    assert there == [each.pcm.tolist() for each in here.chunks]
    assert speech.report.retries == 2
    told = "".join(
        each.text if isinstance(each, SpeechText) else "|"
        for each in made.lines[0].sent
        if isinstance(each, SpeechText | InputDone)
    )
    assert told == "Hi.|Hi.|Hi.|"
    assert feed.read(lambda: False) is None, "it is closed"


def test_a_server_of_version_1_is_decoded_too_and_asked_once(both: Make) -> None:
    made = both("0.6b-customvoice", PLAIN(), version=1)
    wish = SpeechWish("Hi.", seed=4)
    for _ in range(2):
        assert np.array_equal(made.there(wish), made.here(wish))


def test_voices_are_told_where_they_are_asked_for(both: Make) -> None:
    made = both("0.6b-customvoice", PLAIN())
    speech = made.device.speak(SpeechWish("Hi.", seed=4), about=True)
    list(speech.chunks)
    told = made.device.told
    assert (told.voices, told.languages, told.model) == (("ryan",), ("en",), "reference")


def test_a_codec_alone_is_enough_and_a_wrong_address_is_told(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tiny_qwen3("0.6b-customvoice")

    def refuse() -> CodecLine:
        raise RemoteError("nobody is there")

    server = RemoteServer("kitchen")
    for source in (folder, folder / "speech_tokenizer"):
        model = open_remote_model(source, tmp_path, server, codec="onnx", connect=refuse)
        assert model.language.server.url == "ws://kitchen:8765/v1/audio/speech/stream"
        assert model.sample_rate_hz == 24_000
        with pytest.raises(RemoteLanguageError, match="nobody is there"):
            list(model.speak(SpeechWish("Hi.")).chunks)
        model.close()
    with pytest.raises(RemoteLanguageError, match="no address"):
        open_remote_model(folder, tmp_path, RemoteServer("ftp://x"), codec="onnx")
    with pytest.raises(HubError, match="no such folder"):
        open_remote_model(tmp_path / "nothing", tmp_path, server)


def test_every_kind_is_among_the_cases() -> None:
    kinds = {kind.partition("-")[2] for kind in GOLDEN["cases"]}
    assert kinds == {"base", "customvoice", "voicedesign"}
    assert len(Kind) == 3
