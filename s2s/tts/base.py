"""What a text-to-speech backend gives. Weights are shared, an utterance keeps its own state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from s2s.core.audio import Block
from s2s.core.errors import StageError


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend can do, as data."""

    sample_rate_hz: int
    streaming: bool
    """Sound comes before the whole text is done."""
    languages: tuple[str, ...]
    """ISO 639-1 codes."""
    voices: tuple[str, ...] = ()
    """Names that `synthesize` accepts; empty when there is one voice."""
    cloning: bool = False
    word_timing: bool = False
    """`AudioChunk.spoken_chars` is exact."""
    threads: int = 1
    """Threads that compute the sound."""
    reads_first: bool = False
    """All of a text is read before its first sound, which costs time with every word: an answer
    begins with its first clause alone."""
    ahead_s: float = 4.0
    """About how much sound waits to be played, at most, before it stands still. Two seconds are
    plenty for a model that makes sound all the time, and little work to throw away when it is
    interrupted; one that takes its time before each sentence wants more."""


CUT = "limit"
"""How a segment ends that would have gone on beyond a limit of its length."""


CUT_NOTICE = (
    "Part of the answer may be missing: its speech reached the most that such a text should need, "
    "or tts.max_new_tokens."
)


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """How one segment of a text was spoken: for the metrics, and for a notice where it was cut."""

    stop_reason: str
    """Why it ended, in one word: "end" when the model was done, `CUT` when it reached a limit of
    its length before, ..."""
    measures: Mapping[str, float]
    """What the backend counts, by name: "frames", "rtf" (seconds of work for one of sound), ..."""

    @property
    def is_cut(self) -> bool:
        """Something of the text may not have been spoken."""
        return self.stop_reason == CUT


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """A piece of sound."""

    samples: Block
    """float32 [samples] at the backend's rate."""
    spoken_chars: int | None = None
    """Characters of the text spoken once this chunk has been heard; None when unknown."""
    report: SegmentReport | None = None
    """With the last chunk of a segment, which may be empty, from a backend that counts."""


class TtsError(StageError):
    """The backend could not speak. The message says what failed and what to do."""


class WrittenText(Protocol):
    """Speakable text that is still being written, for one reader; any thread."""

    @property
    def quiet(self) -> bool:
        """Who reads now has to wait."""
        ...

    def read(self, stale: Callable[[], bool]) -> str | None:
        """What was written since the last call, waiting for it; empty once the text has ended.
        None when it is stale or closed."""
        ...

    def close(self) -> None:
        """It is read no further. Idempotent."""
        ...


class Synthesizer(Protocol):
    """Speaks text."""

    @property
    def capabilities(self) -> Capabilities: ...

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`.

        Args:
            text: speakable text (no markdown), any length.
            voice: one of `capabilities.voices`; None is the configured one.
            language: ISO 639-1 code of the text; None is the voice's own.
            stop: asked before every piece of work; when true the iterator ends. Closing the
                iterator does the same.

        Raises:
            TtsError: unknown voice, or the model failed.
        """
        ...

    def warm(self) -> None:
        """Speak once, unheard, so that the first real call is no slower. Errors end the start."""
        ...

    def close(self) -> None:
        """Free the model. Idempotent."""
        ...


@runtime_checkable
class InstructedSynthesizer(Synthesizer, Protocol):
    """A synthesizer that can be told how to speak a text."""

    @property
    def takes_instructions(self) -> bool:
        """Whether its model heeds them."""
        ...

    def synthesize_instructed(
        self,
        text: str,
        instructions: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`, spoken as the words of `instructions` say ("cheerful, and a
        little slower"); otherwise as `Synthesizer.synthesize`."""
        ...


@runtime_checkable
class FedSynthesizer(Protocol):
    """A synthesizer that can speak a text along with its writing, each word as it comes."""

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        """Whether it does so with this voice (None: the configured one), in this language (None:
        in any), and its settings; else it is given whole texts."""
        ...

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`, of one utterance; otherwise as `Synthesizer.synthesize`. The
        text is closed when the sound ends, however it does."""
        ...


@runtime_checkable
class Measured(Protocol):
    """A synthesizer that knows how fast it is on this machine once it is warm."""

    @property
    def description(self) -> str:
        """Which model it is and how it is run, in a few words."""
        ...

    @property
    def real_time_factor(self) -> float:
        """Seconds of work for a second of speech."""
        ...

    @property
    def measured_how(self) -> str:
        """When that was measured, and what else went on; "" where it is measured at every start."""
        ...


@runtime_checkable
class PacedSynthesizer(Protocol):
    """A synthesizer that knows how fast it is at this moment."""

    def pace(self, language: str | None = None) -> float:
        """Seconds of work for a second of speech in this language (None: its own), as its last
        utterances took and as other programs leave cores now."""
        ...


@runtime_checkable
class LanguageLoader(Protocol):
    """A synthesizer with a model a language, which can load more of them while it speaks."""

    def offers(self, language: str) -> bool:
        """It speaks this language, or could once its model is loaded."""
        ...

    def prepare(self, language: str) -> bool:
        """Whether the model of a language that is offered is here. Where it is not, it begins to
        be loaded, unless that was tried and failed. Never waits; any thread."""
        ...
