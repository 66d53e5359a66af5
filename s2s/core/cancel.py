"""Interruptions, counted. Work of an older generation is stale and is dropped."""

from __future__ import annotations

from collections.abc import Callable

from s2s.core.clock import Clock
from s2s.core.stop import Listeners


class CancelScope:
    """The session's cancel generation. Safe from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._changed = clock.condition()
        self._generation = 0
        self._listeners = Listeners()

    @property
    def generation(self) -> int:
        """The generation of work that starts now."""
        return self._generation

    def cancel(self) -> int:
        """Make all work so far stale; returns the new generation."""
        with self._changed:
            self._generation += 1
            generation = self._generation
            self._changed.notify_all()
        self._listeners.tell()
        return generation

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` after each interruption; returns what ends that."""
        return self._listeners.listen(heard)

    def is_stale(self, generation: int) -> bool:
        """Whether `generation` was interrupted."""
        return generation != self._generation
