"""Another pace, the same pitch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.tempo import Tempo

RATE_HZ = 24_000


def tone(seconds: float, hz: float = 220.0) -> np.ndarray:
    at = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    return (0.4 * np.sin(2 * np.pi * hz * at) + 0.2 * np.sin(4 * np.pi * hz * at)).astype(
        np.float32
    )


def stretched(samples: np.ndarray, speed: float, *cuts: int) -> np.ndarray:
    tempo = Tempo(RATE_HZ, speed)
    parts = np.split(samples, sorted(min(cut, len(samples)) for cut in cuts))
    return np.concatenate([*(tempo.push(part) for part in parts), tempo.flush()])


@pytest.mark.parametrize("speed", [0.5, 0.8, 1.0, 1.25, 2.0])
def test_it_lasts_as_long_as_asked_and_keeps_its_pitch_and_level(speed: float) -> None:
    samples = tone(1.5)
    found = stretched(samples, speed)
    assert len(found) == pytest.approx(len(samples) / speed, abs=2)
    middle = found[2400:-4800]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    assert np.argmax(spectrum) * RATE_HZ / len(middle) == pytest.approx(220, abs=2)
    rms = np.sqrt(np.mean(middle**2))
    assert rms == pytest.approx(np.sqrt(np.mean(samples**2)), rel=0.03)
    assert np.abs(np.diff(middle)).max() < 0.06  # no clicks


@settings(max_examples=30, deadline=None)
@given(
    speed=st.sampled_from([0.5, 0.9, 1.0, 1.3, 2.0]),
    length=st.integers(0, 9000),
    cuts=st.lists(st.integers(0, 9000), max_size=6),
)
def test_any_split_gives_the_same(speed: float, length: int, cuts: list[int]) -> None:
    samples = np.random.default_rng(0).standard_normal(length).astype(np.float32)
    np.testing.assert_array_equal(stretched(samples, speed, *cuts), stretched(samples, speed))


def test_at_its_own_pace_nothing_is_changed() -> None:
    samples = tone(0.1)
    assert Tempo(RATE_HZ, 1.0).push(samples) is samples


@pytest.mark.parametrize("speed", [0.4, 2.1, 0.0, -1.0, float("nan")])
def test_a_pace_that_no_one_speaks_at_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match=r"from 0\.5 to 2\.0"):
        Tempo(RATE_HZ, speed)


def test_it_may_begin_anew() -> None:
    tempo = Tempo(RATE_HZ, 1.5)
    samples = tone(0.3)
    first = np.concatenate([tempo.push(samples), tempo.flush()])
    second = np.concatenate([tempo.push(samples), tempo.flush()])
    np.testing.assert_array_equal(first, second)
