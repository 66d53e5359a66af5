"""A call at work: a thread of the session's clock, waited for no longer than it may take.

A function cannot be stopped from outside. One that takes too long, or that nobody waits for any
more, is told so (`ToolContext.stopped`) and left to itself; so many may be left and no more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from s2s.core.clock import Clock
from s2s.core.stop import Listeners, StopSignal
from s2s.core.tooling import ToolOutcome

MOST_LEFT = 8
"""Calls of a session that were left to themselves and have not come back."""


class LeftCalls:
    """How many calls were left to themselves. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    @property
    def too_many(self) -> bool:
        """No more can be begun."""
        return self._count >= MOST_LEFT

    def add(self, by: int) -> None:
        """One more is left, or one came back."""
        with self._lock:
            self._count += by


class WorkingTool:
    """`s2s.core.tooling.RunningTool` for a function that blocks.

    Args:
        work: makes the outcome; asks what it is given whether that is still wanted.
        clock: of the session.
        timeout_s: it may take.
        stop: true once the call is cancelled.
        left: counts it if it is left to itself.
    """

    def __init__(
        self,
        work: Callable[[StopSignal], ToolOutcome],
        clock: Clock,
        timeout_s: float,
        stop: StopSignal,
        left: LeftCalls,
    ) -> None:
        self._work = work
        self._clock = clock
        self._timeout_s = timeout_s
        self._until_s = clock.now() + timeout_s
        self._stop = stop
        self._left = left
        self._changed = clock.condition()
        self._outcome: ToolOutcome | None = None
        self._ended = False
        """Nobody waits any more."""
        self._listeners = Listeners()
        self._unwanted = StopSignal(lambda: self._ended or stop(), self._listeners)
        self._worker = clock.start(self._run, "s2s-tool")

    def wait(self, until_s: float | None = None) -> ToolOutcome | None:
        """See `s2s.core.tooling.RunningTool`."""
        due_s = self._until_s if until_s is None else min(until_s, self._until_s)
        forget = self._stop.listen(self._wake)
        try:
            with self._changed:
                while self._outcome is None and not self._stop() and self._clock.now() < due_s:
                    self._changed.wait(due_s - self._clock.now())
                if self._outcome is not None:
                    return self._outcome
                if self._stop():
                    return self._end(ToolOutcome("Cancelled.", failed=True, cancelled=True))
                if self._clock.now() >= self._until_s:
                    why = f"Error: it gave nothing for {self._timeout_s:g} s."
                    return self._end(ToolOutcome(why, failed=True))
                return None
        finally:
            forget()

    def _end(self, outcome: ToolOutcome) -> ToolOutcome:
        """The lock is held."""
        self._outcome = outcome
        self._ended = True
        self._left.add(1)
        self._listeners.tell()
        return outcome

    def _run(self) -> None:
        outcome = self._work(self._unwanted)
        with self._changed:
            if self._ended:
                self._left.add(-1)
            else:
                self._outcome = outcome
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class ReadyOutcome:
    """`s2s.core.tooling.RunningTool` where there is nothing to run."""

    def __init__(self, outcome: ToolOutcome) -> None:
        self._outcome = outcome

    def wait(self, until_s: float | None = None) -> ToolOutcome | None:
        return self._outcome
