"""Whether speech is meant for us by its level and its words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES
from s2s.turns.speaker.config import LevelConfig
from s2s.turns.speaker.plain import Plainness, SpeechLevels, turn_level_db, why_not_answered

PLAIN = Plainness(-26.0, -60.0, -26.0, "What is the weather like?", -0.1)
CONFIG = LevelConfig()


def test_plain_speech_is_answered() -> None:
    assert why_not_answered(PLAIN, CONFIG) is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"floor_db": -28.0}, "noise"),
        ({"level_db": -45.0}, "softer"),
        ({"text": "You", "confidence": -1.0}, "a word"),
        ({"text": "Thank you.", "confidence": -1.0}, "a word"),
        ({"confidence": -1.4}, "words"),
    ],
)
def test_what_is_not_meant_for_us_is_told_by_a_reason(
    changed: dict[str, float | str], reason: str
) -> None:
    told = why_not_answered(replace(PLAIN, **changed), CONFIG)  # pyright: ignore[reportArgumentType]
    assert told is not None
    assert reason in told


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "For,", "confidence": -0.56},
        {"text": "Soar,", "confidence": -0.80},
        {"text": "Thirteen,", "confidence": -0.71},
        {"text": "The cover is so wonderful.", "confidence": -0.77},
        {"level_db": -36.0},  # the person leans back: three times as far away
        {"floor_db": -29.9},  # at 0 dB in steady noise
    ],
)
def test_what_a_person_was_seen_to_say_is_answered(changed: dict[str, float | str]) -> None:
    """Single words in quiet and sentences at 5 dB, as Moonshine wrote them down."""
    turn = replace(PLAIN, **changed)  # pyright: ignore[reportArgumentType]
    assert why_not_answered(turn, CONFIG) is None


def test_without_evidence_nothing_is_dropped() -> None:
    unknown = replace(PLAIN, usual_db=None, confidence=None, text="You")
    assert why_not_answered(unknown, CONFIG) is None


def test_speech_does_not_raise_the_floor_and_a_fan_does() -> None:
    random = np.random.default_rng(0)
    levels = SpeechLevels()
    for window in range(400):
        speech = 0.1 if window % 20 < 15 else 0.001
        sound = (speech * random.standard_normal(BLOCK_SAMPLES)).astype(np.float32)
        levels.hear(sound, speech=speech == 0.1)
    assert levels.floor_db == pytest.approx(-60.0, abs=1.0)
    for _ in range(400):
        sound = (0.01 * random.standard_normal(BLOCK_SAMPLES)).astype(np.float32)
        levels.hear(sound, speech=False)
    assert levels.floor_db == pytest.approx(-40.0, abs=1.0)


def test_the_usual_level_follows_what_was_answered() -> None:
    levels = SpeechLevels()
    assert levels.usual_db is None
    levels.answered(-30.0)
    assert levels.usual_db == -30.0
    levels.answered(-20.0)
    assert levels.usual_db == pytest.approx(-27.0)


def test_silence_has_a_level() -> None:
    assert turn_level_db(np.zeros(16_000, dtype=np.float32)) == -100.0


@pytest.mark.parametrize("speech_s", [0.18, 0.25, 0.4, 0.6, 1.5])
def test_a_short_word_is_as_loud_as_it_was_said(speech_s: float) -> None:
    rng = np.random.default_rng(3)
    noise = (0.001 * rng.standard_normal(16_000 * 2)).astype(np.float32)  # -60 dB
    said = noise.copy()
    at = np.arange(int(16_000 * speech_s))
    said[8_000 : 8_000 + len(at)] += (0.3 * np.sin(2 * np.pi * 180 / 16_000 * at)).astype(
        np.float32
    )
    assert -21.0 < turn_level_db(said[: 8_000 + len(at) + 1_024]) < -12.0
    assert turn_level_db(noise) == pytest.approx(-60.0, abs=1.0)
