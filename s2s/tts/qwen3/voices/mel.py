"""The log mel spectrum the Qwen3-TTS speaker encoder was trained on, in numpy.

Constants: ``extract_speaker_embedding`` and ``mel_spectrogram`` of the official ``qwen-tts``
package; the filterbank is librosa's default one (Slaney's scale and area normalisation).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.interfaces import Floats

RATE_HZ = 24_000
MELS = 128
_FFT = 1024
_HOP = 256
_LOWEST_HZ, _HIGHEST_HZ = 0.0, 12_000.0
_PAD = (_FFT - _HOP) // 2
_POWER_FLOOR = 1e-9
_LOG_FLOOR = 1e-5

MIN_SAMPLES = _PAD + 1
"""A shorter recording cannot be mirrored at its ends."""

# Slaney's scale: linear up to 1 kHz, then 27 steps for each factor of 6.4.
_LINEAR_HZ = 200.0 / 3.0
_KNEE_HZ = 1000.0
_KNEE_MEL = _KNEE_HZ / _LINEAR_HZ
_LOG_STEP = np.log(6.4) / 27.0


def log_mel(pcm: Floats) -> Floats:
    """float32 [samples], mono, 24 kHz, to float32 [frames, 128]; a frame every 256 samples.

    Raises ValueError when there are fewer than MIN_SAMPLES.
    """
    if pcm.ndim != 1 or len(pcm) < MIN_SAMPLES:
        raise ValueError(
            f"a recording needs at least {MIN_SAMPLES} samples in one channel, got {pcm.shape}"
        )
    padded = np.pad(pcm.astype(np.float64), _PAD, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP]
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(_FFT) / _FFT)
    spectrum = np.fft.rfft(frames * window, axis=1)
    magnitude = np.sqrt(np.square(spectrum.real) + np.square(spectrum.imag) + _POWER_FLOOR)
    mel = magnitude @ mel_filters().T.astype(np.float64)
    return np.log(np.maximum(mel, _LOG_FLOOR)).astype(np.float32)


@lru_cache(maxsize=1)
def mel_filters() -> npt.NDArray[np.float32]:
    """Triangular filters of equal area, float32 [128, 513]."""
    bins_hz = np.linspace(0.0, RATE_HZ / 2.0, _FFT // 2 + 1)
    mels = np.linspace(_to_mel(_LOWEST_HZ), _to_mel(_HIGHEST_HZ), MELS + 2)
    edges_hz = np.array([_to_hz(mel) for mel in mels])
    widths = np.diff(edges_hz)
    distance = edges_hz[:, None] - bins_hz[None, :]
    rising = -distance[:-2] / widths[:-1, None]
    falling = distance[2:] / widths[1:, None]
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    area = 2.0 / (edges_hz[2:] - edges_hz[:-2])
    return (triangles * area[:, None]).astype(np.float32)


def _to_mel(hz: float) -> float:
    if hz < _KNEE_HZ:
        return hz / _LINEAR_HZ
    return _KNEE_MEL + float(np.log(hz / _KNEE_HZ)) / _LOG_STEP


def _to_hz(mel: float) -> float:
    if mel < _KNEE_MEL:
        return mel * _LINEAR_HZ
    return _KNEE_HZ * float(np.exp(_LOG_STEP * (mel - _KNEE_MEL)))
