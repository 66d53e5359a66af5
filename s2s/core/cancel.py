"""Interruptions, counted. Work of an older generation is stale and is dropped."""

from __future__ import annotations

from s2s.core.clock import Clock


class CancelScope:
    """The session's cancel generation. Safe from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._changed = clock.condition()
        self._generation = 0

    @property
    def generation(self) -> int:
        """The generation of work that starts now."""
        return self._generation

    def cancel(self) -> int:
        """Make all work so far stale; returns the new generation."""
        with self._changed:
            self._generation += 1
            self._changed.notify_all()
            return self._generation

    def is_stale(self, generation: int) -> bool:
        """Whether `generation` was interrupted."""
        return generation != self._generation
