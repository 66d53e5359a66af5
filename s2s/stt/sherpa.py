"""Streaming recognisers of sherpa-onnx (Apache-2.0): each sample is heard once, words come at once.

Zipformer and LSTM transducers, Paraformer, CTC models of several makers: each a folder of ONNX
files that the project publishes, for some 20 languages. What a folder holds its files tell.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.stt.base import SttError, TimedWord, Transcription
from s2s.stt.silence import sound
from s2s.stt.taught_words import SAME_SOUND, TaughtWords, written
from s2s.stt.word_times import fitted, of_tokens

if TYPE_CHECKING:
    from sherpa_onnx import OnlineRecognizer, OnlineStream

Kind = Literal["transducer", "paraformer", "zipformer2-ctc", "nemo-ctc", "wenet-ctc", "t-one-ctc"]
_PUSH_SAMPLES = PIPELINE_HZ // 10
"""So much is pushed between two questions whether to stop."""


@dataclass(frozen=True, slots=True)
class SherpaConfig:
    """Options of the streaming recogniser."""

    model: str = setting(
        "",
        "A folder with tokens.txt and the ONNX files of a streaming model, or hf://owner/repo: "
        "encoder, decoder and joiner (transducer), encoder and decoder (Paraformer), or one file.",
    )
    kind: Literal["auto"] | Kind = setting(
        "auto", "What the folder holds; auto: as its files say, a single file is zipformer2-ctc."
    )
    language: str = setting("en", "ISO 639-1 code of what the model hears.")
    interval_ms: int = setting(160, "How often words so far are asked for while one speaks.")
    tail_ms: int = setting(
        640, "Silence that is heard behind the end, so that the last words come out."
    )
    hotwords_score: float = setting(
        2.0, "By how much each piece of a taught word (`stt.words`) is preferred."
    )
    device: Literal["cpu", "cuda", "coreml"] = setting("cpu", "Where it runs.")

    def __post_init__(self) -> None:
        if self.interval_ms < 20 or self.tail_ms < 0:
            raise ValueError(
                f"need interval_ms >= 20 and tail_ms >= 0, got {self.interval_ms} and "
                f"{self.tail_ms}"
            )


class Sherpa:
    """Writes down speech as it comes. Calls from several threads take turns."""

    def __init__(self, config: SherpaConfig, resources: Resources) -> None:
        """Load the model.

        Raises:
            SttError: no model was named, or its folder lacks a file.
            StoreError: the model cannot be had.
        """
        if not config.model:
            raise SttError(
                "sherpa: no model was named. Set stt.model to a folder with a streaming model of "
                "sherpa-onnx, or to hf://owner/repo of one."
            )
        self._config = config
        self._files = find_files(resources.store.path(config.model), config.kind)
        taught = [written(word) for word in resources.words]
        self._hot_words = "/".join(taught) if self._files.takes_hot_words else ""
        # What is heard may be all capitals, and some models take no hot words.
        self._taught = TaughtWords(resources.words, least=SAME_SOUND)
        self._lock = threading.Lock()
        self._recogniser: OnlineRecognizer | None = _load(
            self._files, config, resources.threads, hot_words=bool(self._hot_words)
        )

    @property
    def interval_ms(self) -> int:
        """How often new words may come."""
        return self._config.interval_ms

    def open(self, *, language: str | None = None) -> SherpaStream:
        """Begin to hear an utterance; the language is the model's own."""
        del language
        with self._lock:
            recogniser = self._opened()
            made = (
                recogniser.create_stream(hotwords=self._hot_words)
                if self._hot_words
                else recogniser.create_stream()
            )
        return SherpaStream(self, made)

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """Transcribe one utterance; see `s2s.stt.base.Transcriber`."""
        del earlier
        stream = self.open(language=language)
        heard = stream.push(audio, stop=stop)
        return heard if stop() else stream.end(stop=stop)

    def transcribe_words(
        self,
        audio: Block,
        *,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """See `s2s.stt.base.WordTimingTranscriber`. A word's time is when the model wrote it, which
        is up to a chunk after it was said."""
        stream = self.open(language=language)
        heard = stream.push(audio, stop=stop)
        if stop():
            return heard
        heard = stream.end(stop=stop)
        return replace(heard, words=stream.words(heard.text, len(audio) / PIPELINE_HZ))

    def warm(self) -> None:
        """Run the model on half a second of quiet noise."""
        noise = np.random.default_rng(0).normal(0.0, 0.02, PIPELINE_HZ // 2).astype(np.float32)
        self.transcribe(noise)

    def close(self) -> None:
        """Free the model. Idempotent."""
        with self._lock:
            self._recogniser = None

    def decode(self, stream: OnlineStream, stop: Callable[[], bool]) -> Transcription:
        """What `stream` has heard, all of it decoded that can be by now."""
        with self._lock:
            recogniser = self._opened()
            while recogniser.is_ready(stream) and not stop():
                recogniser.decode_stream(stream)
            text = recogniser.get_result(stream).strip()
        text = text.lower() if text.isupper() else text
        return Transcription(self._taught.corrected(text), self._config.language)

    def tokens(self, stream: OnlineStream) -> tuple[list[str], list[float]]:
        """Pieces of words that were written, and when, in seconds of the stream's audio."""
        with self._lock:
            recogniser = self._opened()
            return recogniser.tokens(stream), recogniser.timestamps(stream)

    @property
    def tail(self) -> Block:
        """Silence behind an utterance, float32 [samples] at 16 kHz."""
        return np.zeros(self._config.tail_ms * PIPELINE_HZ // 1000, dtype=np.float32)

    def _opened(self) -> OnlineRecognizer:
        if self._recogniser is None:
            raise RuntimeError("sherpa: used after close()")
        return self._recogniser


class SherpaStream:
    """One utterance; see `s2s.stt.base.TranscriptionStream`."""

    def __init__(self, sherpa: Sherpa, stream: OnlineStream) -> None:
        self._sherpa = sherpa
        self._stream = stream

    def push(self, audio: Block, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        """Hear on."""
        audio = sound(audio)
        heard = None
        for start in range(0, len(audio), _PUSH_SAMPLES):
            if stop():
                break
            self._stream.accept_waveform(PIPELINE_HZ, audio[start : start + _PUSH_SAMPLES])
            heard = self._sherpa.decode(self._stream, stop)
        return heard or self._sherpa.decode(self._stream, stop)

    def end(self, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        """What was heard, to its last word."""
        self._stream.accept_waveform(PIPELINE_HZ, self._sherpa.tail)
        self._stream.input_finished()
        return self._sherpa.decode(self._stream, stop)

    def words(self, text: str, length_s: float) -> tuple[TimedWord, ...]:
        """The words of `text`, which is what was heard, with their times within `length_s`."""
        tokens, starts_s = self._sherpa.tokens(self._stream)
        within = [min(start_s, length_s) for start_s in starts_s]
        return fitted(text, of_tokens(tokens, within, length_s))


@dataclass(frozen=True, slots=True)
class SherpaFiles:
    """The files of a streaming model."""

    kind: Kind
    tokens: Path
    models: tuple[Path, ...]
    """Encoder, decoder and joiner; encoder and decoder; or the one file."""
    vocabulary: Path | None
    """The pieces of words, by which taught words are spelled; None: sign by sign (Chinese)."""

    @property
    def takes_hot_words(self) -> bool:
        """Only a transducer searches for them."""
        return self.kind == "transducer"


def find_files(folder: Path, kind: Literal["auto"] | Kind) -> SherpaFiles:
    """What is in `folder`; of several precisions the smallest, int8.

    Raises:
        SttError: names the file that is missing.
    """
    tokens = folder / "tokens.txt"
    if not tokens.is_file():
        raise SttError(f"sherpa: {tokens} is not there. Name the folder of a streaming model.")
    names = [_one(folder, part) for part in ("encoder", "decoder", "joiner")]
    if kind == "auto":
        found = [name is not None for name in names]
        kind = "transducer" if all(found) else "paraformer" if any(found) else "zipformer2-ctc"
    parts = {"transducer": ("encoder", "decoder", "joiner"), "paraformer": ("encoder", "decoder")}
    models: list[Path] = []
    for part in parts.get(kind, ("",)):
        file = _one(folder, part)
        if file is None:
            raise SttError(
                f"sherpa: no {part or 'model'}*.onnx in {folder}, which a {kind} model needs."
            )
        models.append(file)
    vocabulary = folder / "bpe.vocab"
    return SherpaFiles(kind, tokens, tuple(models), vocabulary if vocabulary.is_file() else None)


def _one(folder: Path, part: str) -> Path | None:
    files = sorted(folder.glob(f"{part}*.onnx"), key=lambda path: ("int8" not in path.name, path))
    return files[0] if files else None


def _load(
    files: SherpaFiles, config: SherpaConfig, threads: int, *, hot_words: bool
) -> OnlineRecognizer:
    from sherpa_onnx import OnlineRecognizer

    tokens, models = str(files.tokens), [str(path) for path in files.models]
    device = config.device
    match files.kind:
        case "transducer":
            return OnlineRecognizer.from_transducer(
                tokens,
                *models,
                num_threads=threads,
                provider=device,
                decoding_method="modified_beam_search" if hot_words else "greedy_search",
                hotwords_score=config.hotwords_score,
                modeling_unit="bpe" if files.vocabulary else "cjkchar",
                bpe_vocab=str(files.vocabulary or ""),
            )
        case "paraformer":
            make = OnlineRecognizer.from_paraformer
        case "zipformer2-ctc":
            make = OnlineRecognizer.from_zipformer2_ctc
        case "nemo-ctc":
            make = OnlineRecognizer.from_nemo_ctc
        case "wenet-ctc":
            make = OnlineRecognizer.from_wenet_ctc
        case "t-one-ctc":
            make = OnlineRecognizer.from_t_one_ctc
    return make(tokens, *models, num_threads=threads, provider=device)
