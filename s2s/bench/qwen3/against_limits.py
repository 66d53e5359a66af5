"""What the parts of a Qwen3-TTS frame take, against the least that this machine allows.

A step of the talker and each pass of the predictor read all of their weights; the files' bytes are
counted (the predictor's heads, 4 % more, are not). The codec of the official models computes 4.96
GFLOP a frame by direct convolution; the minimal filtering in the kernel
(docs/decisions/qwen3-codec-tiles.md) needs 2.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.bench.qwen3.machine import MachineLimits
from s2s.bench.qwen3.utterances import Summary

CODEC_GFLOP = 4.96
CODEC_MINIMAL_GFLOP = 2.9


@dataclass(frozen=True, slots=True)
class WeightSizes:
    """Sizes of the files, in MB."""

    talker_mb: float
    predictor_mb: float


@dataclass(frozen=True, slots=True)
class PartLimit:
    """A part of a frame, in milliseconds."""

    part: str
    least_ms: float
    seen_ms: float

    @property
    def ratio(self) -> float:
        """How many times the least it takes."""
        return self.seen_ms / self.least_ms


def sizes(weights: WeightSizes) -> tuple[int, ...]:
    """What is read again and again, in whole MB: where bandwidth is to be measured."""
    return tuple(max(1, round(each)) for each in (weights.talker_mb, weights.predictor_mb))


def part_limits(weights: WeightSizes, limits: MachineLimits, found: Summary) -> list[PartLimit]:
    """The parts, and the whole frame."""
    passes = found.forward_passes_a_frame
    parts = [
        PartLimit("talker step", limits.read_ms(weights.talker_mb), found.talker_step.p50_ms),
        PartLimit(
            "predictor frame",
            passes * limits.read_ms(weights.predictor_mb),
            found.predictor_frame.p50_ms,
        ),
        PartLimit("codec frame", limits.computed_ms(CODEC_MINIMAL_GFLOP), found.codec_frame.p50_ms),
    ]
    least, seen = sum(each.least_ms for each in parts), sum(each.seen_ms for each in parts)
    return [*parts, PartLimit("frame", least, seen)]


def show_limits(limits: MachineLimits, parts: Sequence[PartLimit]) -> None:
    """Print a table."""
    read = ", ".join(f"{rate:.1f} GB/s of {size} MB" for size, rate in limits.read_gb_s.items())
    print(f"\nlimits of {limits.threads} threads: {read}; {limits.float32_gflop_s:.0f} GFLOP/s")
    for each in parts:
        print(
            f"  {each.part:<20} {each.least_ms:9.2f} least {each.seen_ms:9.2f} seen "
            f"{each.ratio:6.2f} times"
        )
    direct_ms = limits.computed_ms(CODEC_GFLOP)
    print(f"  (by direct convolution the codec's least is {direct_ms:.2f})")
