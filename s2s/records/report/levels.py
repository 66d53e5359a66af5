"""How loud a voice was, in short steps: what a waveform is drawn from. Pure."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.records.tape import Samples

Levels = npt.NDArray[np.uint8]

STEP_S = 0.02
MOST_STEPS = 400_000
"""Of each voice in a page: more than two hours; a longer conversation is drawn in longer steps."""


def step_s_for(duration_s: float) -> float:
    """Seconds of one step for a conversation of that length."""
    return STEP_S * max(1, -(-int(duration_s / STEP_S) // MOST_STEPS))


def levels(pieces: Iterable[Samples], step_s: float) -> tuple[Levels, Levels]:
    """Of both voices, uint8 [steps], from int16 [samples, 2] in pieces: 255 is the loudest of that
    voice, and what is softer is drawn higher than it is, as ears have it."""
    step = round(step_s * PIPELINE_HZ)
    peaks = [
        np.abs(part.astype(np.int32)).reshape(-1, step, 2).max(axis=1)
        for part in _in_steps(pieces, step)
    ]
    joined = np.concatenate([np.zeros((0, 2), dtype=np.int32), *peaks])
    return drawn(joined[:, 0] / 32768), drawn(joined[:, 1] / 32768)


def levels_of(samples: Block, rate_hz: int, step_s: float) -> Levels:
    """Of one voice, uint8 [steps], from float32 [samples at rate_hz]."""
    step = max(1, round(step_s * rate_hz))
    padded = np.zeros(-(-len(samples) // step) * step, dtype=np.float32)
    padded[: len(samples)] = np.abs(samples)
    return drawn(padded.reshape(-1, step).max(axis=1) if len(padded) else padded)


def drawn(peaks: npt.NDArray[np.floating]) -> Levels:
    """Peaks, [steps] in 0 to 1, as heights of 0 to 255."""
    loudest = max(float(peaks.max()) if len(peaks) else 0.0, 0.02)
    return np.clip(np.round(255 * np.sqrt(peaks / loudest)), 0, 255).astype(np.uint8)


def as_text(values: Levels) -> str:
    """For a page."""
    return base64.b64encode(values.tobytes()).decode("ascii")


def _in_steps(pieces: Iterable[Samples], step: int) -> Iterator[Samples]:
    """The same in pieces of whole steps, the last filled up with silence."""
    rest = np.zeros((0, 2), dtype=np.int16)
    for piece in pieces:
        joined = np.concatenate([rest, piece])
        whole = len(joined) // step * step
        if whole:
            yield joined[:whole]
        rest = joined[whole:]
    if len(rest):
        filled = np.zeros((step, 2), dtype=np.int16)
        filled[: len(rest)] = rest
        yield filled
