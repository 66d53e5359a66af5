"""Whisper on whatever runtime: an utterance in windows, and what of its words was spoken.

Whisper always hears 30 s at once. It was trained on subtitles: where nobody speaks it makes words
up, and now and then it repeats itself. It tells both by its own measures.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.setting import setting
from s2s.stt.base import TimedWord, Transcription
from s2s.stt.silence import is_silent, sound
from s2s.stt.windows import quiet_windows

M = TypeVar("M")

WINDOW_SAMPLES = 30 * PIPELINE_HZ


@dataclass(frozen=True, slots=True)
class SpokenRules:
    """Which of Whisper's words count as spoken."""

    no_speech_prob: float = setting(
        0.6,
        "What Whisper takes for no speech with at least this probability, and is not sure of "
        "(`sure_log_prob`), is dropped.",
    )
    sure_log_prob: float = setting(
        -1.0, "Mean log probability of a token from which on Whisper counts as sure."
    )
    max_compression: float = setting(
        2.4, "Text that zlib shrinks by more than this repeats itself, and is dropped."
    )
    silence_db: float = setting(
        -55.0,
        "Audio whose loudest 30 ms stay below this level, in dB of full scale, holds no words.",
    )


class WrittenSegment(Protocol):
    """A piece of text as Whisper's runtimes give it."""

    @property
    def text(self) -> str: ...
    @property
    def avg_logprob(self) -> float: ...
    @property
    def no_speech_prob(self) -> float: ...
    @property
    def compression_ratio(self) -> float: ...


def is_spoken(segment: WrittenSegment, rules: SpokenRules) -> bool:
    """Whether somebody said this: not silence made into words, not a loop."""
    silent = segment.no_speech_prob >= rules.no_speech_prob
    unsure = segment.avg_logprob < rules.sure_log_prob
    repeats = segment.compression_ratio > rules.max_compression
    return not (silent and unsure) and not repeats and any(map(str.isalnum, segment.text))


@dataclass(frozen=True, slots=True)
class HeardWindow:
    """What was said in at most 30 s."""

    text: str
    """"" where nothing was spoken."""
    language: str
    """ISO 639-1 code."""
    languages: Mapping[str, float]
    """How probable each language is, where none was told."""
    words: tuple[TimedWord, ...] = ()
    """When each word was said in it, where that was asked for and the runtime tells it."""


class WindowedWhisper(ABC, Generic[M]):
    """Writes down speech with a runtime's model. Stateless between calls; calls from several
    threads take turns."""

    def __init__(self, name: str, model: M, rules: SpokenRules) -> None:
        """``name``: of the backend, for errors."""
        self._name = name
        self._rules = rules
        self._lock = threading.Lock()
        self._model: M | None = model

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """Transcribe one utterance; see `s2s.stt.base.Transcriber`.

        `earlier` is of no use to Whisper. `stop` is asked before each window of up to 30 s. The
        language is heard in the first window that is not silent, and told with the probability of
        every other.
        """
        del earlier
        return self._transcribed(audio, language, stop, words=False)

    def _transcribed(
        self, audio: Block, language: str | None, stop: Callable[[], bool], *, words: bool
    ) -> Transcription:
        audio = sound(audio)
        texts: list[str] = []
        timed: list[TimedWord] = []
        languages: dict[str, float] = {}
        with self._lock:
            model = self._model
            if model is None:
                raise RuntimeError(f"{self._name}: used after close()")
            if not self._is_multilingual(model):
                language = "en"
            for window in quiet_windows(audio, WINDOW_SAMPLES):
                if stop():
                    break
                if is_silent(audio[window], self._rules.silence_db):
                    continue
                heard = self._window(model, audio[window], language, words=words)
                if heard.text:
                    languages = languages or dict(heard.languages)
                    language = heard.language
                    texts.append(heard.text)
                    begin_s = window.start / PIPELINE_HZ
                    timed += [
                        TimedWord(each.text, begin_s + each.start_s, begin_s + each.end_s)
                        for each in heard.words
                    ]
        return Transcription(" ".join(texts), language, languages=languages, words=tuple(timed))

    def warm(self) -> None:
        """Run the model once on a second of quiet noise."""
        noise = np.random.default_rng(0).normal(0.0, 0.02, PIPELINE_HZ).astype(np.float32)
        self.transcribe(noise)

    def close(self) -> None:
        """Free the model. Idempotent."""
        with self._lock:
            self._model = None

    @abstractmethod
    def _is_multilingual(self, model: M) -> bool:
        """It hears other languages than English."""

    @abstractmethod
    def _window(self, model: M, audio: Block, language: str | None, *, words: bool) -> HeardWindow:
        """Hear at most 30 s, in ``language`` or whatever is spoken; with ``words`` when each was
        said, where the runtime tells it."""
