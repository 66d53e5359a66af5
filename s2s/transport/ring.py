"""Samples from a device callback to a thread; the callback never waits for the reader."""

from __future__ import annotations

import numpy as np

from s2s.core.audio import Block, empty
from s2s.core.clock import Clock


class Ring:
    """A bounded buffer of samples, float32. One writer, one reader."""

    def __init__(self, clock: Clock, capacity_samples: int) -> None:
        if capacity_samples < 1:
            raise ValueError(f"capacity_samples must be at least 1, got {capacity_samples}")
        self._clock = clock
        self._changed = clock.condition()
        self._samples = np.zeros(capacity_samples, dtype=np.float32)
        self._written = 0
        self._read = 0
        self._closed = False
        self.dropped_samples = 0

    def write(self, block: Block) -> None:
        """Append float32 [samples]; what does not fit is dropped and counted. Never waits."""
        with self._changed:
            room = len(self._samples) - (self._written - self._read)
            taken = min(room, len(block))
            self.dropped_samples += len(block) - taken
            start = self._written % len(self._samples)
            first = min(taken, len(self._samples) - start)
            self._samples[start : start + first] = block[:first]
            self._samples[: taken - first] = block[first:taken]
            self._written += taken
            self._changed.notify_all()

    def read(self, at_least: int, *, deadline_s: float) -> Block:
        """All that waits: at least that much, unless the deadline passed or it was closed."""
        with self._changed:
            while self._written - self._read < at_least and not self._closed:
                remaining_s = deadline_s - self._clock.now()
                if remaining_s <= 0:
                    break
                self._changed.wait(remaining_s)
            waiting = self._written - self._read
            if not waiting:
                return empty()
            start = self._read % len(self._samples)
            first = min(waiting, len(self._samples) - start)
            out = np.empty(waiting, dtype=np.float32)
            out[:first] = self._samples[start : start + first]
            out[first:] = self._samples[: waiting - first]
            self._read = self._written
            return out

    def wait_for_samples(self, deadline_s: float) -> bool:
        """Wait until something can be read; False when the clock reads `deadline_s` first."""
        with self._changed:
            while self._written == self._read and not self._closed:
                remaining_s = deadline_s - self._clock.now()
                if remaining_s <= 0:
                    return False
                self._changed.wait(remaining_s)
            return True

    def close(self) -> None:
        """Wake the reader for good."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
