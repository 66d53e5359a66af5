"""What a speech-to-text backend gives. Weights are shared; a call keeps no state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from s2s.core.audio import Block
from s2s.core.errors import StageError


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
