"""Who talk at once on real models: what is sent, and what is made of the answers."""

from __future__ import annotations

import base64
import json
import math

import numpy as np
import pytest

from s2s.bench.load.at_once import (
    GAP_S,
    PlayedAnswer,
    TalkersSeen,
    messages,
    row_of,
    speech_end,
)
from s2s.bench.load.clients import RATE_HZ


def tone(seconds: float) -> np.ndarray:
    at = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    return (0.3 * np.sin(2 * np.pi * 200 * at)).astype(np.float32)


def test_speech_ends_where_the_recording_falls_silent() -> None:
    audio = np.concatenate([tone(0.73), 0.0005 * tone(0.5)])
    assert speech_end(audio, RATE_HZ) == pytest.approx(0.73 * RATE_HZ, abs=RATE_HZ // 100)


def test_the_last_message_ends_with_the_speech() -> None:
    audio = np.concatenate([tone(0.73), np.zeros(RATE_HZ, np.float32)])
    sent = [json.loads(each) for each in messages(audio)]
    assert {each["type"] for each in sent} == {"input_audio_buffer.append"}
    pieces = [np.frombuffer(base64.b64decode(each["audio"]), "<i2") for each in sent]
    assert [len(piece) for piece in pieces] == [2400] * 8
    assert not pieces[0][:1600].any()
    assert np.abs(pieces[-1][-240:]).max() > 5000


def test_an_answer_that_comes_faster_than_it_is_played_has_no_gap() -> None:
    answer = PlayedAnswer()
    for now_s in (1.0, 1.1, 1.2):
        answer.sound(now_s, 0.5)
    assert (answer.first_s, answer.gap_s) == (1.0, 0.0)
    assert answer.until_s == pytest.approx(2.5)


def test_what_comes_too_late_is_a_gap() -> None:
    answer = PlayedAnswer()
    answer.sound(1.0, 0.5)
    answer.sound(2.0, 0.5)
    assert answer.gap_s == pytest.approx(0.5)
    assert answer.gap_s > GAP_S
    assert answer.until_s == pytest.approx(2.5)


def test_figures_of_what_was_seen() -> None:
    row = row_of(2, TalkersSeen([300.0, 500.0, 400.0], gaps=1, missing=2), 1.5)
    assert (row.talking, row.answers, row.most_ms, row.gaps, row.missing) == (2, 3, 500.0, 1, 2)
    assert row.p50_ms == 400.0
    assert math.isnan(row_of(1, TalkersSeen(), 0.0).p50_ms)
