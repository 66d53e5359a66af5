"""Where there is speech in a recording that is there as a whole.

A recogniser makes words up where there are none ("Thank you for watching" in music), so it is shown
only what the voice detector takes for speech.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer
from s2s.turns.base import Vad

SPEECH = 0.5
"""Probability of a window that holds speech."""
SPEECH_WINDOWS = 3
"""So many of them make a region: a tenth of a second, less than the shortest word. A chord that
swells like syllables reaches two."""
MAYBE_SPEECH = 0.25
"""A region goes on while windows reach this."""
GAP_S = 3.0
"""A pause as long as this parts two regions."""
MARGIN_S = 0.7
"""Kept around a region, for sounds that the detector is late for."""


def speech_regions(recording: Block, vad: Vad, *, gap_s: float = GAP_S) -> list[slice]:
    """Where there is speech in `recording`, float32 [samples at 16 kHz], with margins.

    Args:
        recording: all of it.
        vad: a stream that has heard nothing yet.
        gap_s: a pause as long as this parts two regions; margins are at most half of it.
    """
    framer = Framer(BLOCK_SAMPLES)
    frames = [*framer.push(recording), *framer.flush()]
    probabilities = np.array([vad.probability(frame) for frame in frames])
    margin = int(min(MARGIN_S, gap_s / 2) * PIPELINE_HZ)
    regions: list[slice] = []
    for first, last in _runs(probabilities, gap_s):
        start = max(0, first * BLOCK_SAMPLES - margin)
        end = min(len(recording), (last + 1) * BLOCK_SAMPLES + margin)
        regions.append(slice(start, end))
    return regions


def _runs(probabilities: npt.NDArray[np.float64], gap_s: float) -> Iterator[tuple[int, int]]:
    """(first, last) window of each stretch that holds speech and no pause of `gap_s`."""
    maybe = np.flatnonzero(probabilities >= MAYBE_SPEECH)
    gap = int(gap_s * PIPELINE_HZ / BLOCK_SAMPLES)
    for run in np.split(maybe, np.flatnonzero(np.diff(maybe) > gap) + 1):
        if len(run) and np.count_nonzero(probabilities[run] >= SPEECH) >= SPEECH_WINDOWS:
            yield int(run[0]), int(run[-1])
