"""Level and limiter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.level import KNEE, amplify


def test_below_the_knee_it_is_a_plain_gain() -> None:
    quiet = np.linspace(-0.39, 0.39, 101, dtype=np.float32)
    assert amplify(quiet, 6.0) == pytest.approx(quiet * 10**0.3)


@given(st.lists(st.floats(-50, 50, width=32), min_size=2, max_size=50))
def test_nothing_clips_and_louder_stays_louder(values: list[float]) -> None:
    samples = np.sort(np.array(values, dtype=np.float32))
    out = amplify(samples, 5.0)
    assert np.abs(out).max() < 1.0
    assert (np.diff(out) >= 0).all()
    assert out.dtype == np.float32


@given(st.integers(0, 40))
def test_any_split_gives_the_same_samples(cut: int) -> None:
    samples = np.linspace(-2, 2, 40, dtype=np.float32)
    parts = [amplify(samples[:cut], 3.0), amplify(samples[cut:], 3.0)]
    assert np.array_equal(np.concatenate(parts), amplify(samples, 3.0))


def test_it_bends_without_a_step() -> None:
    around = np.array([KNEE - 1e-4, KNEE, KNEE + 1e-4], dtype=np.float32)
    assert np.diff(amplify(around, 0.0)) == pytest.approx([1e-4, 1e-4], rel=0.02)
