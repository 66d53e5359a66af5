"""Pace and level of what Qwen3-TTS says, and what is heard of it before it fails."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pytest

from s2s.tts.backends.qwen3.sound import reported, sounded
from s2s.tts.qwen3 import Chunk, Qwen3Error, Report, Speech
from s2s.tts.qwen3_config import Qwen3Config

RATE_HZ = 24_000


def speech_of(chunks: int, error: Qwen3Error | None = None) -> Speech:
    def made() -> Generator[Chunk, None, None]:
        for _ in range(chunks):
            yield Chunk(np.full(1920, 0.25, np.float32), np.zeros((1, 16), np.int64))
        if error is not None:
            raise error

    return Speech(made(), Report(frames=chunks))


def heard(speech: Speech, config: Qwen3Config) -> tuple[np.ndarray, int]:
    looks: list[None] = []
    parts = sounded(speech, RATE_HZ, config, lambda: False, lambda: looks.append(None))
    return np.concatenate([each.samples for each in parts]), len(looks)


def test_it_is_heard_as_it_was_made() -> None:
    samples, looks = heard(speech_of(3), Qwen3Config())
    assert (len(samples), looks) == (3 * 1920, 3)
    assert (samples == 0.25).all()


def test_pace_and_level_are_changed() -> None:
    samples, _ = heard(speech_of(20), Qwen3Config(speed=2.0, volume_db=6.0))
    assert len(samples) == pytest.approx(10 * 1920, rel=0.1)
    assert np.abs(samples).max() > 0.3


@pytest.mark.parametrize("speed", [1.0, 1.5])
def test_what_came_before_a_failure_is_heard(speed: float) -> None:
    parts: list[np.ndarray] = []
    speech = speech_of(12, Qwen3Error("lost"))
    config = Qwen3Config(speed=speed)
    with pytest.raises(Qwen3Error, match="lost"):
        parts.extend(
            each.samples for each in sounded(speech, RATE_HZ, config, lambda: False, lambda: None)
        )
    assert sum(map(len, parts)) == pytest.approx(12 * 1920 / speed, rel=0.1)


def test_closing_it_closes_the_speech() -> None:
    speech = speech_of(3)
    parts = sounded(speech, RATE_HZ, Qwen3Config(), lambda: False, lambda: None)
    next(parts)
    parts.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert list(speech.chunks) == []


def test_the_last_chunk_is_empty_and_says_how_it_went() -> None:
    last = reported(speech_of(0))
    assert len(last.samples) == 0
    assert last.report is not None
    assert last.report.stop_reason == "stopped"
