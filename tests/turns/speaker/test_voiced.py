"""What has a pitch: a voice, and neither noise nor a click."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, read_wav
from s2s.turns.speaker.voiced import is_unvoiced

DATA = Path(__file__).parents[2] / "data"
T = np.arange(BLOCK_SAMPLES) / PIPELINE_HZ


@pytest.mark.parametrize("hz", [90, 140, 220, 330])
def test_a_pitch_is_voiced(hz: int) -> None:
    tone = sum(np.sin(2 * np.pi * hz * n * T) / n for n in range(1, 8))
    assert not is_unvoiced(np.asarray(0.1 * tone, dtype=np.float32))


def test_noise_is_not() -> None:
    random = np.random.default_rng(1)
    noises = [random.standard_normal(BLOCK_SAMPLES).astype(np.float32) for _ in range(50)]
    assert all(is_unvoiced(noise) for noise in noises)


def test_silence_is_not_called_unvoiced() -> None:
    assert not is_unvoiced(np.zeros(BLOCK_SAMPLES, dtype=np.float32))


def test_a_click_is_not() -> None:
    click = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
    click[100:104] = (0.5, -0.5, 0.3, -0.1)
    assert is_unvoiced(click)


def test_most_of_human_speech_is() -> None:
    audio, _ = read_wav(DATA / "librivox_0880.wav", PIPELINE_HZ)
    windows = audio[: len(audio) // BLOCK_SAMPLES * BLOCK_SAMPLES].reshape(-1, BLOCK_SAMPLES)
    loud = [window for window in windows if np.abs(window).max() > 0.05]
    assert np.mean([is_unvoiced(window) for window in loud]) < 0.5
