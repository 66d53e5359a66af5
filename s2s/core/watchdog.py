"""Notices that work stands still. Pure: it is told the time and how far things are.

Every wait in the pipeline has its own bound; this one holds whatever a model does.
"""

from __future__ import annotations


class Watchdog:
    """Tells once when something is owed and nothing has moved for a time. Not thread-safe."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._progress = -1
        self._since_s = 0.0
        self._told = False

    def stalled(self, now_s: float, progress: int, owed: bool) -> bool:
        """Whether to give up now: true once for each standstill.

        Args:
            now_s: what the clock reads; only goes forward.
            progress: a count of everything that moves; another number means that it did.
            owed: whether anything is expected to move.
        """
        if progress != self._progress or not owed:
            self._told = self._told and progress == self._progress
            self._progress, self._since_s = progress, now_s
            return False
        if self._told or now_s - self._since_s < self._patience_s:
            return False
        self._told = True
        return True
