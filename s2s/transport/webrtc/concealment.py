"""Sound with gaps where packets were lost, made whole: a short gap holds what was before it, softer
and softer; a longer one is silence. The clock of samples goes on. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from s2s.core.audio import Block

FADE = 0.6
"""From one missing frame to the next."""
MOST_CONCEALED = 5
"""Frames; more is silence."""
LONGEST_GAP_S = 2.0
"""A longer one is not filled: the client did not send for a while, as a muted one may."""


class Concealment:
    """One stream.

    Args:
        rate_hz: of its samples, which its time stamps count too.
    """

    def __init__(self, rate_hz: int) -> None:
        self._longest = int(LONGEST_GAP_S * rate_hz)
        self._next: int | None = None
        self._last: Block | None = None
        self.concealed = 0
        """Samples that were made up."""

    def push(self, block: Block, timestamp: int) -> Iterator[Block]:
        """The next that came, float32 [samples], and before it what is missing."""
        if self._next is not None and timestamp < self._next:
            return  # it came too late
        if self._next is not None and self._last is not None:
            missing = timestamp - self._next
            if 0 < missing <= self._longest:
                yield from self._fill(self._last, missing)
        self._last, self._next = block, timestamp + len(block)
        yield block

    def _fill(self, last: Block, missing: int) -> Iterator[Block]:
        """Backwards and forwards again, so that nothing jumps where they meet."""
        self.concealed += missing
        level, number = 1.0, 0
        mirrored = last[::-1]
        while missing > 0:
            length = min(missing, len(last))
            softer = level * FADE if number < MOST_CONCEALED else 0.0
            fade = np.linspace(level, softer, len(last), dtype=np.float32)
            yield ((mirrored if number % 2 == 0 else last) * fade)[:length].astype(np.float32)
            level, number, missing = softer, number + 1, missing - length
