"""Blocks, frames and rates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from s2s.core.audio import (
    Framer,
    Resampler,
    from_int16,
    resample,
    rms_db,
    to_int16,
    to_mono,
)

cuts = st.lists(st.integers(0, 5000), max_size=12)


def split(samples: np.ndarray, at: list[int]) -> list[np.ndarray]:
    return np.split(samples, sorted(min(cut, len(samples)) for cut in at))


@given(hnp.arrays(np.int16, st.integers(0, 64)))
def test_int16_survives_the_way_to_float_and_back(samples: np.ndarray) -> None:
    assert np.array_equal(to_int16(from_int16(samples)), samples)


def test_loud_samples_are_clipped_not_wrapped() -> None:
    assert to_int16(np.array([2.0, -2.0], dtype=np.float32)).tolist() == [32767, -32768]


def test_mono_is_the_mean() -> None:
    assert to_mono(np.array([[1.0, 0.0], [0.5, 0.5]], dtype=np.float32)).tolist() == [0.5, 0.5]


def test_level() -> None:
    assert rms_db(np.zeros(0, dtype=np.float32)) == float("-inf")
    assert rms_db(np.zeros(8, dtype=np.float32)) == float("-inf")
    assert rms_db(np.full(8, 0.1, dtype=np.float32)) == pytest.approx(-20.0, abs=0.01)


@given(frame=st.integers(1, 700), length=st.integers(0, 3000), at=cuts)
def test_any_split_gives_the_same_frames(frame: int, length: int, at: list[int]) -> None:
    samples = np.arange(length, dtype=np.float32)
    framer = Framer(frame)
    frames = [each for piece in split(samples, at) for each in framer.push(piece)]
    frames += list(framer.flush())
    assert all(len(each) == frame for each in frames)
    joined = np.concatenate(frames) if frames else np.zeros(0, dtype=np.float32)
    assert np.array_equal(joined[:length], samples)
    assert not joined[length:].any()
    assert len(joined) - length < frame
    assert not list(framer.flush())


@settings(max_examples=40, deadline=None)
@given(
    rates=st.sampled_from(
        [(24000, 16000), (16000, 24000), (48000, 16000), (22050, 16000), (16000, 44100)]
    ),
    length=st.integers(0, 5000),
    at=cuts,
)
def test_any_split_resamples_to_the_same_samples(
    rates: tuple[int, int], length: int, at: list[int]
) -> None:
    samples = np.random.default_rng(length).standard_normal(length).astype(np.float32) * 0.1
    resampler = Resampler(*rates)
    pieces = [resampler.push(piece) for piece in split(samples, at)]
    streamed = np.concatenate([*pieces, resampler.flush()])
    assert np.array_equal(streamed, resample(samples, *rates))


def test_resampling_keeps_duration_and_tone() -> None:
    t = np.arange(48000) / 48000
    out = resample(np.sin(2 * np.pi * 440 * t).astype(np.float32), 48000, 16000)
    assert abs(len(out) - 16000) <= 1
    want = np.sin(2 * np.pi * 440 * np.arange(len(out)) / 16000)
    assert np.abs(out[500:-500] - want[500:-500]).max() < 1e-3


def test_equal_rates_pass_through_untouched() -> None:
    samples = np.arange(7, dtype=np.float32)
    assert Resampler(16000, 16000).push(samples) is samples
