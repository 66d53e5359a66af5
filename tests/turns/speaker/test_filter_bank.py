"""Kaldi's filter bank, one number after another by its definition."""

from __future__ import annotations

import numpy as np

from s2s.core.arrays import Floats
from s2s.core.audio import Block
from s2s.turns.speaker.filter_bank import BANDS, filter_bank

HZ, FFT, WINDOW, HOP = 16_000, 512, 400, 160


def to_mel(hz: float) -> float:
    return float(1127 * np.log(1 + hz / 700))


def by_definition(audio: Block) -> Floats:
    waves = np.exp(-2j * np.pi * np.outer(np.arange(FFT // 2), np.arange(WINDOW)) / FFT)
    edges = [to_mel(20) + (to_mel(8000) - to_mel(20)) * each / (BANDS + 1) for each in range(82)]
    window = [(0.5 - 0.5 * np.cos(2 * np.pi * n / (WINDOW - 1))) ** 0.85 for n in range(WINDOW)]
    rows: list[list[float]] = []
    for start in range(0, len(audio) - WINDOW + 1, HOP):
        frame = audio[start : start + WINDOW].astype(np.float64)
        frame -= frame.mean()
        sharp = frame.copy()
        for n in range(WINDOW):
            sharp[n] -= 0.97 * frame[max(0, n - 1)]
        power = np.abs(waves @ (sharp * window)) ** 2
        row: list[float] = []
        for low, middle, high in zip(edges, edges[1:], edges[2:], strict=False):
            band = 0.0
            for number, each in enumerate(power):
                mel = to_mel(number * HZ / FFT)
                share = min((mel - low) / (middle - low), (high - mel) / (high - middle))
                band += max(0.0, share) * float(each)
            row.append(float(np.log(max(band, 2.0**-23))))
        rows.append(row)
    return np.array(rows, dtype=np.float32)


def test_features_are_those_of_the_definition() -> None:
    random = np.random.default_rng(0)
    audio = (0.1 * random.standard_normal(1_200) + 0.05).astype(np.float32)
    audio[700:] *= 1e-5  # nearly silent: the floor is seen
    expected = by_definition(audio)
    assert expected.shape == (6, BANDS)
    assert (expected == np.float32(np.log(2.0**-23))).any()
    np.testing.assert_allclose(filter_bank(audio), expected, atol=2e-4)


def test_too_little_sound_is_one_frame() -> None:
    assert filter_bank(np.zeros(10, dtype=np.float32)).shape == (1, BANDS)
