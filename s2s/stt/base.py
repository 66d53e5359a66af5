"""What a speech-to-text backend gives. Weights are shared; a call keeps no state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from s2s.core.audio import Block
from s2s.core.errors import StageError


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word, and when it was said, in seconds from the start of the audio."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Transcription:
    """What a backend heard."""

    text: str
    """Empty when it heard no words."""
    language: str | None = None
    """ISO 639-1 code, or None when the backend cannot tell."""
    tokens: tuple[int, ...] = ()
    """The backend's own token ids of `text`; a later call on more audio may reuse them."""
    confidence: float | None = field(default=None, compare=False)
    """Mean natural logarithm of the probability of what was written, at most 0; None when the
    backend does not tell. The same words checked in one pass or found one by one differ in its
    last digits, so it is not part of what was heard."""
    languages: Mapping[str, float] = field(default_factory=dict[str, float], compare=False)
    """Probability of each language, by its code; empty when the backend does not tell."""
    words: tuple[TimedWord, ...] = field(default=(), compare=False)
    """Those of `text`, in order, where their times were asked for and the backend tells them."""


class SttError(StageError):
    """The backend could not transcribe. The message says what failed and what to do."""


class Transcriber(Protocol):
    """Writes down speech."""

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """Transcribe one utterance.

        Args:
            audio: float32 [samples] at 16 kHz, any length (long audio is windowed inside).
            language: expected language, None to detect it where the backend can.
            earlier: result for a prefix of the same utterance: saves decoding where the backend
                can verify it, and never changes the result.
            stop: asked between decoding steps; when true the call returns what it has.

        Raises:
            SttError: the model or its server failed.
        """
        ...

    def warm(self) -> None:
        """Run once so that the first real call is not slower. Errors are start-up errors."""
        ...

    def close(self) -> None:
        """Free the model. Idempotent."""
        ...


@runtime_checkable
class GrowingTranscriber(Protocol):
    """A transcriber whose words of one recording come one after another."""

    def transcribe_growing(
        self,
        audio: Block,
        *,
        so_far: Callable[[Transcription], None],
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """As `Transcriber.transcribe`; `so_far` is given what was written by then whenever there
        are more words. It is called on this thread, and must not wait."""
        ...


@runtime_checkable
class WordTimingTranscriber(Protocol):
    """A transcriber that can tell when each word was said."""

    def transcribe_words(
        self,
        audio: Block,
        *,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """As `Transcriber.transcribe`, with `Transcription.words`; without them where the model
        or its server tells none after all."""
        ...


class TranscriptionStream(Protocol):
    """One utterance that is written down while it is spoken. Not thread-safe."""

    def push(self, audio: Block, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        """Hear on, and say what was heard so far: the last words of it may still be missing.

        Args:
            audio: float32 [samples] at 16 kHz that follow on those before, any number.
            stop: asked between pieces of work; when true the call returns what it has, and the
                stream is of no further use.

        Raises:
            SttError: the model failed.
        """
        ...

    def end(self, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        """What was heard, to its last word. Nothing can be pushed after it.

        Raises:
            SttError: the model failed.
        """
        ...


@runtime_checkable
class StreamingTranscriber(Protocol):
    """A transcriber that hears each sample once: words cost no more, however often one asks."""

    @property
    def interval_ms(self) -> int:
        """How often new words may come: so often they are worth asking for."""
        ...

    def open(self, *, language: str | None = None) -> TranscriptionStream:
        """Begin to hear an utterance in `language`; None: the backend's own, or as heard."""
        ...
