"""What is waited for: the first words of an answer that a model was asked for."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from statistics import median

from s2s.core.clock import Clock
from s2s.core.messages import ResponseId

REMEMBERED = 5
"""Waits by which the next is judged."""


@dataclass(frozen=True, slots=True)
class AwaitedAnswer:
    """An answer that has no word yet."""

    response: ResponseId
    language: str | None
    """Of the person."""
    stopped_at_s: float
    """When the person stopped to speak."""
    asked_at_s: float
    """When the model was asked."""


class FirstWords:
    """How long a session's model takes until it says something, its thinking included."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waits_s: deque[float] = deque(maxlen=REMEMBERED)
        self._awaited: AwaitedAnswer | None = None

    @property
    def awaited(self) -> AwaitedAnswer | None:
        """What is waited for now."""
        return self._awaited

    @property
    def usual_s(self) -> float | None:
        """The usual wait; None before there was one."""
        return median(self._waits_s) if self._waits_s else None

    def ask(self, response: ResponseId, language: str | None, stopped_at_s: float) -> None:
        """The model is asked."""
        self._awaited = AwaitedAnswer(response, language, stopped_at_s, self._clock.now())

    def came(self) -> None:
        """It says something; the first time counts."""
        awaited, self._awaited = self._awaited, None
        if awaited is not None:
            self._waits_s.append(self._clock.now() - awaited.asked_at_s)

    def end(self) -> None:
        """Nothing is waited for any more."""
        self._awaited = None
