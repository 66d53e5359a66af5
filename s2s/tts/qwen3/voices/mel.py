"""The log mel spectrum the Qwen3-TTS speaker encoder was trained on, in numpy.

Constants: ``extract_speaker_embedding`` and ``mel_spectrogram`` of the official ``qwen-tts``
package; the filterbank is librosa's default one (Slaney's scale and area normalisation).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from s2s.core.arrays import Floats
from s2s.core.audio.mel import slaney_filters

RATE_HZ = 24_000
MELS = 128
_FFT = 1024
_HOP = 256
_PAD = (_FFT - _HOP) // 2
_POWER_FLOOR = 1e-9
_LOG_FLOOR = 1e-5

MIN_SAMPLES = _PAD + 1
"""A shorter recording cannot be mirrored at its ends."""


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
def mel_filters() -> Floats:
    """Triangular filters of equal area, float32 [128, 513]."""
    return slaney_filters(RATE_HZ, _FFT, MELS).astype(np.float32)
