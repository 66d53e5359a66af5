"""Whether a moment of sound has a pitch: vocal folds give it one, a knock or a cough has none."""

from __future__ import annotations

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block

LOWEST_HZ, HIGHEST_HZ = 70, 400
PERIODIC = 0.6
"""Least correlation of a moment with itself one period later that is a pitch."""


def is_unvoiced(block: Block) -> bool:
    """Whether float32 [samples at 16 kHz] is sound without a pitch; silence is not.

    block: at least two periods of the lowest pitch.
    """
    sound = block.astype(np.float64) - float(block.mean())
    squares = np.concatenate([[0.0], np.cumsum(np.square(sound))])
    if squares[-1] <= 1e-9 * len(sound):
        return False
    spectrum = np.fft.rfft(sound, 2 * len(sound))
    alike = np.fft.irfft(np.square(spectrum.real) + np.square(spectrum.imag))
    lags = np.arange(PIPELINE_HZ // HIGHEST_HZ, PIPELINE_HZ // LOWEST_HZ + 1)
    first, last = squares[len(sound) - lags], squares[-1] - squares[lags]
    return bool(np.max(alike[lags] / np.sqrt(first * last + 1e-12)) < PERIODIC)
