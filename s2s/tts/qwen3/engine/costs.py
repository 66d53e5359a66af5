"""What a frame of speech costs on a machine: numbers alone, knowing no model.

VITS has a line and a planner of its own: see docs/decisions/two-chunk-planners.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

FRAME_MS = 80.0
"""What a frame lasts."""

_FOLLOW_UP, _FOLLOW_DOWN = 0.25, 0.1
"""How fast an estimate follows what takes longer, and what takes less: running dry is heard, a
chunk that could have been larger is not."""
_MOST_RATIO = 3.0
"""A frame that took longer than so many times the estimate lost its core, and counts as so many."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a machine needs, in milliseconds.

    codes_ms: the codes of one frame. call_ms, decode_ms: a call of the decoder, and each frame in
    it. overlapped: codes are made while others are decoded; else the two take turns.
    """

    codes_ms: float
    call_ms: float = 0.0
    decode_ms: float = 0.0
    overlapped: bool = False

    @classmethod
    def measured(
        cls, codes_ms: float, calls: Sequence[tuple[int, float]], overlapped: bool = False
    ) -> Costs:
        """From calls of the decoder: (frames, milliseconds). The line through the medians of the
        smallest and the largest; calls of one size only leave ``call_ms`` at 0."""
        if not calls:
            return cls(codes_ms, overlapped=overlapped)
        small, large = min(calls)[0], max(calls)[0]
        small_ms = median(took_ms for frames, took_ms in calls if frames == small)
        large_ms = median(took_ms for frames, took_ms in calls if frames == large)
        if small == large:
            return cls(codes_ms, 0.0, small_ms / small, overlapped)
        decode_ms = min(max(0.0, (large_ms - small_ms) / (large - small)), large_ms / large)
        return cls(codes_ms, max(0.0, large_ms - large * decode_ms), decode_ms, overlapped)

    def frame_ms(self, frames: int) -> float:
        """One frame of many, in chunks of ``frames``: below FRAME_MS sound is made in real time."""
        each_ms = self.decoded_ms(frames) / frames
        if self.overlapped:
            return max(self.codes_ms, each_ms)
        return self.codes_ms + each_ms

    def ready_ms(self, free_ms: float, emitted: int, frames: int) -> float:
        """When a chunk is ready that follows ``emitted`` frames, the last of which was ready at
        ``free_ms``."""
        if self.overlapped:
            return max((emitted + frames) * self.codes_ms, free_ms) + self.decoded_ms(frames)
        return free_ms + frames * self.codes_ms + self.decoded_ms(frames)

    def decoded_ms(self, frames: int) -> float:
        """One call of the decoder."""
        return self.call_ms + frames * self.decode_ms


@dataclass(frozen=True, slots=True)
class Spent:
    """What one utterance took, in milliseconds, waiting left out.

    codes_ms: of each frame. calls: frames and time of each call of the decoder.
    """

    codes_ms: tuple[float, ...]
    calls: tuple[tuple[int, float], ...]


class RunningCosts:
    """Costs that follow what frames and decoder calls really take. Begins with what was measured;
    half the way to a machine twice as slow is gone after three frames."""

    def __init__(self, costs: Costs) -> None:
        self.costs: Costs = costs

    def made(self, took_ms: float) -> None:
        """The codes of a frame took that long."""
        costs = self.costs
        self.costs = replace(costs, codes_ms=_follow(costs.codes_ms, took_ms))

    def decoded(self, frames: int, took_ms: float) -> None:
        """A call of the decoder for so many frames took that long: both of its parts move."""
        costs = self.costs
        expected_ms = costs.decoded_ms(frames)
        if expected_ms <= 0:
            self.costs = replace(costs, decode_ms=took_ms / frames)
            return
        factor = _follow(expected_ms, took_ms) / expected_ms
        self.costs = replace(
            costs, call_ms=costs.call_ms * factor, decode_ms=costs.decode_ms * factor
        )


def _follow(estimate_ms: float, took_ms: float) -> float:
    if estimate_ms <= 0:
        return took_ms
    took_ms = min(took_ms, _MOST_RATIO * estimate_ms)
    share = _FOLLOW_UP if took_ms > estimate_ms else _FOLLOW_DOWN
    return estimate_ms + share * (took_ms - estimate_ms)
