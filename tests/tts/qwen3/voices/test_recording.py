"""What is said about a recording before a voice is made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import read_wav
from s2s.tts.qwen3.errors import RecordingError
from s2s.tts.qwen3.voices.recording import check_reference

DATA = Path(__file__).parents[3] / "data"
RATE_HZ = 24_000
TEXT = (
    "and mister john dashwood had then leisure to consider how much there might be prudently in "
    "his power to do for them"
)


@pytest.fixture(scope="module")
def speech() -> np.ndarray:
    return read_wav(DATA / "librivox_0870.wav", RATE_HZ)[0]


def test_good_speech_gets_no_warning(speech: np.ndarray) -> None:
    assert check_reference(speech, RATE_HZ, TEXT) == []
    assert check_reference(speech, RATE_HZ) == []


@pytest.mark.parametrize(
    "name", ["goforward", "librivox_0890", "librivox_0920", "librivox_0930", "something"]
)
def test_recordings_of_speech_get_at_most_their_length(name: str) -> None:
    pcm = read_wav(DATA / f"{name}.wav", RATE_HZ)[0]
    warnings = check_reference(pcm, RATE_HZ)
    assert len(warnings) == (len(pcm) < 3 * RATE_HZ)


def one(pcm: np.ndarray, text: str = "") -> str:
    (warning,) = check_reference(pcm.astype(np.float32), RATE_HZ, text)
    return warning


def test_length(speech: np.ndarray) -> None:
    assert "only 2.9 s" in one(speech[: int(2.9 * RATE_HZ)])
    assert "36 s long" in one(np.tile(speech, 5))


def test_clipping(speech: np.ndarray) -> None:
    assert "clipped" in one(np.clip(speech * 20, -1, 1))
    peak = speech / np.abs(speech).max()  # as loud as can be, but whole
    assert check_reference(peak.astype(np.float32), RATE_HZ) == []


def test_faint(speech: np.ndarray) -> None:
    assert "faint" in one(speech * 0.02)


def test_pauses(speech: np.ndarray) -> None:
    pause = np.zeros(len(speech))
    assert "silence: cut the pauses" in one(np.concatenate([pause, speech, pause * 0.5]))


def test_transcripts(speech: np.ndarray) -> None:
    assert "short for it" in one(speech, "and so on")
    assert "long for it" in one(speech, TEXT * 3)
    assert (
        check_reference(speech, RATE_HZ, "他不是一个坏脾气的年轻人，我们去公园吧，天气怎么样") == []
    )


@pytest.mark.parametrize(
    ("pcm", "message"),
    [
        (np.zeros(0), "0.000 s"),
        (np.zeros((RATE_HZ, 2)), "one channel"),
        (np.zeros(RATE_HZ), "silent"),
        (np.full(RATE_HZ, 1e-5), "silent"),
        (np.append(np.ones(RATE_HZ), np.inf), "finite"),
    ],
)
def test_what_is_no_reference(pcm: np.ndarray, message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        check_reference(pcm.astype(np.float32), RATE_HZ)
