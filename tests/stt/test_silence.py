"""Audio without words, and samples that are none."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.stt.silence import is_silent, sound


def burst(level: float, samples: int = 1_000) -> np.ndarray:
    audio = np.zeros(16_000, dtype=np.float32)
    audio[8_000 : 8_000 + samples : 2] = level
    audio[8_001 : 8_000 + samples : 2] = -level
    return audio


def test_the_loudest_30_ms_decide() -> None:
    assert is_silent(burst(0.0017), -55.0)
    assert not is_silent(burst(0.0019), -55.0)
    assert is_silent(burst(0.002, samples=20), -55.0)


def test_a_constant_offset_is_no_sound() -> None:
    assert is_silent(np.full(16_000, 0.9, dtype=np.float32), -55.0)


@pytest.mark.parametrize("samples", [0, 1, 1_599])
def test_less_than_a_tenth_of_a_second_holds_no_word(samples: int) -> None:
    assert is_silent(np.random.default_rng(0).uniform(-1, 1, samples).astype(np.float32), -55.0)


def test_samples_that_are_no_sound() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 2.0, -0.5], dtype=np.float32)
    assert sound(odd).tolist() == [0.0, 1.0, -1.0, 1.0, -0.5]
    assert sound(odd).dtype == np.float32
