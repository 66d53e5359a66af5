"""Kaldi's log mel filter bank, as speaker networks were trained on it: pure.

The definition is that of Kaldi's `compute-fbank-feats` without dither: frames of 25 ms every 10 ms
within the sound, each without its mean, pre-emphasised by 0.97, under the window that Kaldi calls
povey, 80 triangles on the scale 1127 ln(1 + f / 700) from 20 Hz to 8 kHz over the power, and a
logarithm.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from s2s.core.arrays import Floats
from s2s.core.audio import PIPELINE_HZ, Block

BANDS = 80
FFT_SAMPLES = 512
WINDOW_SAMPLES = 400
HOP_SAMPLES = 160
_LOWEST_HZ = 20.0
_EMPHASIS = 0.97
_FLOOR = float(np.finfo(np.float32).eps)


def filter_bank(audio: Block) -> Floats:
    """float32 [frames, 80] of float32 [samples] at 16 kHz; below one frame the rest is silence."""
    if len(audio) < WINDOW_SAMPLES:
        audio = np.pad(audio, (0, WINDOW_SAMPLES - len(audio)))
    framed = np.lib.stride_tricks.sliding_window_view(audio, WINDOW_SAMPLES)[::HOP_SAMPLES]
    framed = framed - framed.mean(axis=1, keepdims=True)
    before = np.concatenate([framed[:, :1], framed[:, :-1]], axis=1)
    spectrum = np.fft.rfft((framed - _EMPHASIS * before) * _window(), FFT_SAMPLES, axis=1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    # Not a matrix product: BLAS would wake threads for it that go on spinning.
    mel = np.einsum("tf,mf->tm", power, _triangles())
    return np.log(np.maximum(mel, _FLOOR)).astype(np.float32)


@functools.cache
def _window() -> npt.NDArray[np.float64]:
    turn = 2.0 * np.pi * np.arange(WINDOW_SAMPLES) / (WINDOW_SAMPLES - 1)
    return (0.5 - 0.5 * np.cos(turn)) ** 0.85


@functools.cache
def _triangles() -> npt.NDArray[np.float64]:
    """float64 [80, 257]; nothing of the last bin."""
    hz = np.arange(FFT_SAMPLES // 2) * PIPELINE_HZ / FFT_SAMPLES
    mels, lowest, highest = (
        1127.0 * np.log1p(each / 700.0) for each in (hz, _LOWEST_HZ, PIPELINE_HZ / 2)
    )
    edges = np.linspace(lowest, highest, BANDS + 2)
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    shares = np.minimum((mels - low) / (middle - low), (high - mels) / (high - middle))
    return np.pad(np.maximum(0.0, shares), ((0, 0), (0, 1)))
