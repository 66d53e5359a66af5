"""What a graph computes, held against what was made of it; and how far it differs from itself.

Which equalities of a streamed voice hold bit for bit, and which up to rounding:

- The same text, seed and schedule give the same bits, and so do the frames (means, deviations and
  noise) whatever the schedule: a frame's noise is drawn by its number.
- Another schedule gives the same sound up to the order in which onnxruntime adds: at most 8e-7 of
  full scale for the voice joe, over sentences of 0.3 to 4.5 s at three speeds.
- The rewritten encoder and decoder give the original graph's sound up to its own rounding. The
  original differs from itself by as much when onnxruntime optimises it otherwise (for joe 1.1e-4
  both) or when its inputs change in the last bit, so a fixed bound would refuse a voice for being
  rounded.

Decision: docs/decisions/vits-tolerance.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from s2s.core.audio import Block
from s2s.system.onnx import onnx_session
from s2s.tts.vits.decoding import run
from s2s.tts.vits.graph.stepwise import Array

TOLERANCE = 1e-5
"""Largest absolute difference of samples that counts as the same sound without further question:
100 dB below full scale, ten times what another schedule was seen to change."""

SPREADS = 2.0
"""How many times the graph's own spread is allowed: two ways to round, each within one spread of
the exact result, lie within two of each other."""

MAX_TOLERANCE = 1e-3
"""Never more, whatever the spread: 60 dB below full scale. What a wrong cut changes is larger."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far two ways to compute a sound are apart, and how far they may be."""

    error: float
    """Largest absolute difference of samples; inf when the lengths differ."""
    allowed: float

    @property
    def same(self) -> bool:
        """They differ by rounding alone."""
        return self.error <= self.allowed


class ReferenceSounds:
    """What a graph gives for some inputs.

    Args:
        model: the graph; its first output is a sound.
        feeds: inputs, name -> array, deterministic: no noise.
    """

    def __init__(self, model: Path | bytes, feeds: Sequence[Mapping[str, Array]]) -> None:
        self._model = model
        self._feeds = feeds

    @cached_property
    def sounds(self) -> list[Block]:
        """One for each of the inputs, float32 [samples]."""
        return self._run(self._feeds)

    @cached_property
    def spreads(self) -> list[float]:
        """How far each sound is from what the same graph gives without optimisation, and from
        what it gives for inputs that differ in the last bit; inf where that changes the length."""
        plain = self._run(self._feeds, optimised=False)
        rng = np.random.default_rng(0)
        nudged = self._run([{k: _nudged(v, rng) for k, v in feed.items()} for feed in self._feeds])
        return [
            max(difference(sound, one), difference(sound, other))
            for sound, one, other in zip(self.sounds, plain, nudged, strict=True)
        ]

    def compare(self, ours: Sequence[Block]) -> Comparison:
        """Hold other sounds for the same inputs against this graph's.

        The graph's own spread is measured only where rounding is not beyond question. Inputs for
        which it does not even keep its own length say nothing and are left out.
        """
        errors = [difference(one, other) for one, other in zip(self.sounds, ours, strict=True)]
        if max(errors) <= TOLERANCE:
            return Comparison(max(errors), TOLERANCE)
        pairs = [(e, s) for e, s in zip(errors, self.spreads, strict=True) if math.isfinite(s)]
        error = max((e for e, _ in pairs), default=math.inf)
        spread = max((s for _, s in pairs), default=0.0)
        return Comparison(error, tolerance(spread))

    def _run(self, feeds: Sequence[Mapping[str, Array]], *, optimised: bool = True) -> list[Block]:
        session = onnx_session(self._model, optimised=optimised)
        return [run(session, feed)[0].reshape(-1) for feed in feeds]


def _nudged(values: Array, rng: np.random.Generator) -> Array:
    """Values along time, float32 [1, channels, frames], each one up or down by its last bit;
    numbers and settings (the scales) as they are."""
    if values.dtype != np.float32 or values.ndim < 2:
        return values
    sign = rng.choice(np.array([-1, 1], np.float32), values.shape)
    return values * (1 + sign * np.float32(2.0**-23))


def tolerance(spread: float) -> float:
    """The difference that is allowed to a graph which differs from itself by `spread`."""
    return min(MAX_TOLERANCE, max(TOLERANCE, SPREADS * spread))


def difference(one: Block, other: Block) -> float:
    """Largest absolute difference; inf for different lengths or numbers that are none."""
    if one.shape != other.shape or not np.isfinite(other).all():
        return math.inf
    return float(np.abs(one - other).max(initial=0.0))
