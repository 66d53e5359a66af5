"""Two clocks that run differently, and callbacks that come in bursts."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.transport.drift import PacedStream

CUSHION = 320
BURST = 160
WINDOW = 512


def tone(seconds: float) -> Block:
    t = np.arange(int(seconds * PIPELINE_HZ)) / PIPELINE_HZ
    return np.sin(2 * np.pi * 440.0 * t).astype(np.float32)


def read_at(stream: PacedStream, sound: Block, ppm: float, seconds: float) -> Block:
    """Read `seconds` while bursts are written by a clock that is `ppm` fast."""
    written, windows = 0, []
    for end in range(WINDOW, int(seconds * PIPELINE_HZ), WINDOW):
        due = (int(end * (1 + ppm * 1e-6)) + CUSHION) // BURST * BURST
        stream.write(sound[written:due])
        written = max(written, due)
        windows.append(stream.read(WINDOW))
    return np.concatenate(windows)


def test_equal_clocks_pass_every_sample_as_it_is() -> None:
    random = np.random.default_rng(1)
    sound = random.standard_normal(10 * WINDOW).astype(np.float32)
    stream = PacedStream()
    read = []
    for start in range(0, len(sound), WINDOW):
        stream.write(sound[start : start + WINDOW])
        read.append(stream.read(WINDOW))
    joined = np.concatenate(read)
    first = int(np.flatnonzero(joined)[0])
    np.testing.assert_array_equal(joined[first:], sound[: len(sound) - first])
    assert first <= 16


@pytest.mark.parametrize("ppm", [150.0, -150.0])
def test_drift_is_followed_without_a_jump(ppm: float) -> None:
    stream = PacedStream()
    read = read_at(stream, tone(75), ppm, 70.0)
    assert stream.drift_ppm == pytest.approx(ppm, abs=75.0)
    assert abs(stream.waiting_samples - CUSHION) <= 200
    settled = read[10 * PIPELINE_HZ :]
    second = np.diff(settled, n=2)
    assert np.abs(second).max() <= 1.2 * (2 * np.pi * 440.0 / PIPELINE_HZ) ** 2


def test_a_device_that_stood_still_is_caught_up_with() -> None:
    stream = PacedStream()
    read_at(stream, tone(10), 0.0, 8.0)
    stream.write(np.zeros(PIPELINE_HZ, dtype=np.float32))
    for _ in range(int(4.0 * PIPELINE_HZ / WINDOW)):
        stream.write(np.zeros(WINDOW, dtype=np.float32))
        stream.read(WINDOW)
    assert stream.waiting_samples <= CUSHION + PIPELINE_HZ // 5


def test_what_has_not_come_is_silence() -> None:
    stream = PacedStream()
    assert not stream.read(WINDOW).any()
    stream.write(np.ones(100, dtype=np.float32))
    assert np.count_nonzero(stream.read(WINDOW)) <= 100
