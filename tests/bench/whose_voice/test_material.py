"""Voices and noises that are mixed: their levels, and where a recording is cut."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.whose_voice.material import (
    LONGEST_S,
    SHORTEST_S,
    SpokenLine,
    babble,
    cut_at_pauses,
    levelled,
    mixed,
    trimmed,
)
from s2s.core.audio import PIPELINE_HZ
from s2s.core.audio.gain import speech_level_db


def hum(seconds: float, hz: float = 200.0, level: float = 0.2) -> np.ndarray:
    t = np.arange(int(seconds * PIPELINE_HZ)) / PIPELINE_HZ
    return (level * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def silence(seconds: float) -> np.ndarray:
    return np.zeros(int(seconds * PIPELINE_HZ), np.float32)


@pytest.mark.parametrize("level_db", [-40.0, -26.0, -15.0])
def test_a_level_is_what_was_asked_for(level_db: float) -> None:
    found = speech_level_db(levelled(hum(2.0), level_db), PIPELINE_HZ)
    assert found == pytest.approx(level_db, abs=0.1)


def test_silence_around_it_goes() -> None:
    sound = trimmed(np.concatenate([silence(0.5), hum(1.0), silence(0.3)]))
    assert len(sound) == pytest.approx(PIPELINE_HZ, abs=100)
    assert len(trimmed(silence(1.0))) == 0


def test_a_long_recording_is_cut_at_its_pauses() -> None:
    spans = (2.0, 3.0, 2.5)
    parts = [part for span in spans for part in (hum(span), silence(0.8))]
    pieces = cut_at_pauses(np.concatenate(parts))
    assert [len(piece) / PIPELINE_HZ for piece in pieces] == pytest.approx(spans, abs=0.3)
    assert all(SHORTEST_S <= len(piece) / PIPELINE_HZ <= LONGEST_S for piece in pieces)
    assert cut_at_pauses(hum(0.5)) == []


@pytest.mark.parametrize("snr_db", [0.0, 10.0])
def test_what_is_mixed_in_lies_below_by_as_much(snr_db: float) -> None:
    speech, other = hum(2.0, 200.0), hum(0.7, 950.0, 0.01)
    beside = mixed(speech, other, snr_db) - speech
    difference_db = speech_level_db(speech, PIPELINE_HZ) - speech_level_db(beside, PIPELINE_HZ)
    assert difference_db == pytest.approx(snr_db, abs=0.3)


def test_babble_is_of_the_others_and_always_the_same() -> None:
    voices = {
        name: [SpokenLine(name, f"{name}/0", hum(2.0, hz))]
        for name, hz in (("mine", 100.0), ("a", 400.0), ("b", 700.0))
    }
    one, other = (babble(voices, 4.0, 5, "mine") for _ in range(2))
    np.testing.assert_array_equal(one, other)
    spectrum = np.abs(np.fft.rfft(one))
    at = np.fft.rfftfreq(len(one), 1 / PIPELINE_HZ)
    loud = {hz: spectrum[np.abs(at - hz) < 5].max() for hz in (100.0, 400.0, 700.0)}
    assert loud[100.0] < 0.05 * min(loud[400.0], loud[700.0])
