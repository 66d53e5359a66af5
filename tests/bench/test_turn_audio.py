"""Turns with pauses cut in: the same every time, with marks that are right."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from s2s.bench.turn_audio import (
    Pause,
    Recording,
    Turn,
    cut_points,
    level_db,
    make_turn,
    read_turns,
    room_tone,
    sentences,
    write_turns,
)
from s2s.core.audio import PIPELINE_HZ

WORDS_S = [0.5, 1.2, 1.9, 2.6, 3.3, 4.0, 4.7]


def sentence() -> Recording:
    """Words of half a second with 0.2 s between them, over a faint hiss."""
    random = np.random.default_rng(0)
    audio = (0.001 * random.standard_normal(6 * PIPELINE_HZ)).astype(np.float32)
    t = np.arange(PIPELINE_HZ // 2) / PIPELINE_HZ
    for start_s in [WORDS_S[0] - 0.7 + 0.2, *WORDS_S]:
        start = max(0, int(start_s * PIPELINE_HZ))
        audio[start : start + len(t)] += (0.3 * np.sin(2 * np.pi * 200 * t)).astype(np.float32)
    return Recording("a", "words", audio, 0, int(5.2 * PIPELINE_HZ))


def test_cuts_are_between_words_away_from_the_ends_and_each_other() -> None:
    recording = sentence()
    cuts = cut_points(recording, WORDS_S, 3, np.random.default_rng(0))
    assert cuts == sorted(cuts)
    assert cuts
    for cut in cuts:
        assert recording.start + 0.4 * PIPELINE_HZ <= cut <= recording.end - 0.4 * PIPELINE_HZ
        assert level_db(recording.audio)[cut * 100 // PIPELINE_HZ] < -30
    assert all(b - a >= 0.8 * PIPELINE_HZ for a, b in pairwise(cuts))


def test_a_turn_is_its_recording_with_silence_in_between() -> None:
    recording = sentence()
    one, other = make_turn(recording, WORDS_S, 1), make_turn(recording, WORDS_S, 1)
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(one.audio, other.audio)
    silent = sum(pause.end - pause.start for pause in one.pauses)
    spoken = recording.end - recording.start
    assert one.speech_end - one.speech_start == spoken + silent
    level = level_db(one.audio)
    for pause in one.pauses:
        assert 0.2 * PIPELINE_HZ <= pause.end - pause.start <= 1.5 * PIPELINE_HZ
        middle = (pause.start + pause.end) // 2 * 100 // PIPELINE_HZ
        assert level[middle] < level.max() - 30


def test_where_nothing_can_be_cut_there_is_no_turn() -> None:
    assert make_turn(sentence(), [], 0) is None
    assert make_turn(sentence(), [0.05], 0) is None


def test_room_tone_is_as_loud_as_the_quietest_tenth() -> None:
    tone = room_tone(sentence().audio, PIPELINE_HZ, np.random.default_rng(0))
    assert np.sqrt(np.mean(tone**2)) == pytest.approx(0.001, rel=0.5)


def test_turns_are_read_as_they_were_written(tmp_path: Path) -> None:
    audio = np.round(np.linspace(-0.5, 0.5, 1600) * 32768).astype(np.float32) / 32768
    turn = Turn("a_0", "some words", audio, 100, (Pause(300, 500),), 900)
    write_turns([turn], tmp_path)
    (read,) = read_turns(tmp_path)
    assert (read.name, read.text, read.pauses) == (turn.name, turn.text, turn.pauses)
    assert (read.speech_start, read.speech_end) == (100, 900)
    np.testing.assert_allclose(read.audio, audio, atol=1e-4)


def test_a_folder_without_the_prompts_text_says_which_folder_is_meant(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="name the folder in which make_turn_audio"):
        sentences(tmp_path)
