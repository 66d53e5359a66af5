"""The room with an open loudspeaker."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.core.audio import PIPELINE_HZ, Block, rms_db
from s2s.testing.echo_room import LoudspeakerPath, OpenLoudspeaker


def click() -> Block:
    sound = np.zeros(PIPELINE_HZ, dtype=np.float32)
    sound[100] = 0.2
    return sound


def heard(path: LoudspeakerPath, sound: Block, block: int = 512) -> Block:
    loudspeaker = OpenLoudspeaker(path)
    starts = range(0, len(sound), block)
    return np.concatenate([loudspeaker.echo(sound[start : start + block]) for start in starts])


@pytest.mark.parametrize("delay_ms", [30.0, 300.0])
def test_sound_arrives_after_the_delay(delay_ms: float) -> None:
    echo = heard(LoudspeakerPath(delay_ms=delay_ms), click())
    arrived = int(np.argmax(np.abs(echo))) - 100
    assert arrived == pytest.approx(delay_ms * PIPELINE_HZ / 1000, abs=80)


def test_any_block_size_gives_the_same_echo() -> None:
    sound = np.random.default_rng(2).standard_normal(PIPELINE_HZ // 2).astype(np.float32) * 0.1
    path = LoudspeakerPath(delay_ms=77.0, drift_ppm=500.0)
    expected = heard(path, sound)
    for block in (100, 333):
        np.testing.assert_allclose(heard(path, sound, block), expected, atol=1e-6)


def test_a_loudspeaker_that_is_driven_too_hard_clips() -> None:
    t = np.arange(PIPELINE_HZ) / PIPELINE_HZ
    tone = (0.5 * np.sin(2 * np.pi * 1000.0 * t)).astype(np.float32)
    clean = heard(LoudspeakerPath(clip=10.0, reverberation_s=0.01), tone)[PIPELINE_HZ // 2 :]
    bent = heard(LoudspeakerPath(clip=0.1, reverberation_s=0.01), tone)[PIPELINE_HZ // 2 :]
    assert rms_db(bent) < rms_db(clean) - 8.0
    overtone = np.abs(np.fft.rfft(bent * np.hanning(len(bent))))
    assert overtone[1400:1600].max() > 0.05 * overtone[450:550].max()
