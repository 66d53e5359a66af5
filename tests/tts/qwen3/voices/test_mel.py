"""The log mel spectrum of the speaker encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from s2s.core.audio import read_wav
from s2s.tts.qwen3.voices.mel import log_mel, mel_filters

DATA = Path(__file__).parents[3] / "data"


RECORDINGS = {"short": "librivox_0880", "uneven": "librivox_0870"}


def recording(name: str) -> np.ndarray:
    return read_wav(DATA / f"{RECORDINGS[name]}.wav", 24_000)[0]


def golden(name: str) -> np.ndarray:
    with np.load(DATA / "qwen3" / "speaker_encoder.npz") as arrays:
        return arrays[name]


def test_mel_spectrum_is_the_official_one() -> None:
    mel, expected = log_mel(recording("short")), golden("mel")
    assert mel.shape == (golden("mel_frames"), 128)
    # The official one is computed in float32; near silence the logarithm shows its rounding.
    np.testing.assert_allclose(mel[::7], expected, rtol=0, atol=1e-3)
    assert np.abs(mel[::7] - expected).mean() < 1e-5


def test_filters_are_triangles_of_equal_area() -> None:
    filters = mel_filters().astype(np.float64)
    peaks = filters.argmax(axis=1)
    assert filters.shape == (128, 513)
    assert filters.min() == 0
    assert (np.diff(peaks) >= 0).all()
    bin_hz = 24_000 / 1024
    wide = filters[60:]  # the low ones are narrower than a bin
    np.testing.assert_allclose(wide.sum(axis=1) * bin_hz, 1.0, rtol=0.05)
