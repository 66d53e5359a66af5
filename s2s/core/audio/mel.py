"""Slaney's mel filter bank, as librosa and Whisper have it: pure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_KNEE_MEL = 15.0


def slaney_filters(rate_hz: int, fft_samples: int, bands: int) -> npt.NDArray[np.float64]:
    """Triangles of equal area from 0 Hz to half the rate, float64 [bands, fft_samples // 2 + 1].

    Slaney, Auditory Toolbox (1998): linear to 1 kHz (15 mel), then 27 mel a factor of 6.4.
    rate_hz: above 2 kHz.
    """
    top_mel = _KNEE_MEL + 27.0 * np.log(rate_hz / 2 / 1000.0) / np.log(6.4)
    mels = np.linspace(0.0, float(top_mel), bands + 2)
    linear_hz, above_hz = mels * 200.0 / 3.0, 1000.0 * 6.4 ** ((mels - _KNEE_MEL) / 27.0)
    edges_hz = np.where(mels < _KNEE_MEL, linear_hz, above_hz)
    bins_hz = np.linspace(0.0, rate_hz / 2, fft_samples // 2 + 1)
    low, middle, high = edges_hz[:-2, None], edges_hz[1:-1, None], edges_hz[2:, None]
    rising = (bins_hz - low) / (middle - low)
    falling = (high - bins_hz) / (high - middle)
    return np.maximum(0.0, np.minimum(rising, falling)) * (2.0 / (high - low))
