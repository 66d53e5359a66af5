"""Two voices on one clock: nothing is lost, nothing is shifted, whatever the pieces are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, to_int16
from s2s.records.tape import JUMP_SAMPLES, LATE_SAMPLES, QUIET_SAMPLES, Tape, VoiceTrack
from s2s.testing.simulator import tone

WINDOW = np.arange(1, BLOCK_SAMPLES + 1, dtype=np.int16)


def voice(seconds: float, rate_hz: int) -> Block:
    t = np.arange(int(seconds * rate_hz)) / rate_hz
    return (0.3 * np.sin(2 * np.pi * 440 * t)).astype(np.float32)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 40)), max_size=12), st.data())
def test_a_track_gives_what_was_laid_where_it_was_laid(
    pieces: list[tuple[int, int]], data: st.DataObject
) -> None:
    track, expected, number = VoiceTrack(), np.zeros(1200, dtype=np.int16), 0
    for gap, count in pieces:
        at = track.end + gap
        samples = np.arange(number + 1, number + count + 1, dtype=np.int16)
        track.put(at, samples)
        expected[at : at + count] = samples
        number += count
    cuts = sorted(data.draw(st.lists(st.integers(0, 1200), max_size=6)))
    taken = [track.take(a, b) for a, b in zip([0, *cuts], [*cuts, 1200], strict=True)]
    assert np.array_equal(np.concatenate(taken), expected)


def test_what_comes_too_late_is_laid_behind_what_was_taken() -> None:
    track = VoiceTrack()
    assert not track.take(0, 100).any()
    track.put(50, WINDOW[:10])
    assert list(track.take(100, 110)) == list(WINDOW[:10])


def test_a_cut_takes_away_what_lies_behind_it() -> None:
    track = VoiceTrack()
    track.put(0, WINDOW)
    track.put(1000, WINDOW)
    track.cut(100)
    assert track.end == 100
    assert np.array_equal(track.take(0, 1600)[:100], WINDOW[:100])
    track.put(0, WINDOW)
    assert np.array_equal(track.take(1600, 1600 + len(WINDOW)), WINDOW)


def test_windows_follow_each_other_although_the_clock_trembles() -> None:
    tape = Tape()
    for number, tremble in enumerate((0, 200, -300, LATE_SAMPLES - 1, 0)):
        tape.person(WINDOW, (number + 1) * BLOCK_SAMPLES + tremble)
    person = tape.take_rest(0)[:, 0]
    assert np.array_equal(person, np.tile(WINDOW, 5))


def test_a_microphone_that_was_gone_leaves_whole_windows_of_silence() -> None:
    tape = Tape()
    tape.person(WINDOW, BLOCK_SAMPLES)
    tape.person(WINDOW, 40 * BLOCK_SAMPLES + 100)
    person = tape.take_rest(0)[:, 0].reshape(-1, BLOCK_SAMPLES)
    assert [bool(row.any()) for row in person] == [True, *[False] * 38, True]
    assert np.array_equal(person[-1], WINDOW)


@pytest.mark.parametrize("rate_hz", [16_000, 24_000, 48_000])
def test_an_answer_lies_where_it_was_heard(rate_hz: int) -> None:
    tape, sound, at = Tape(), voice(0.5, rate_hz), 20_000
    for start in range(0, len(sound), 777):
        block = sound[start : start + 777]
        tape.assistant(block, rate_hz, at + start * PIPELINE_HZ // rate_hz)
    heard = tape.take_rest(10**6)[:, 1]
    assert not heard[: at - 50].any()
    assert len(heard) == pytest.approx(at + PIPELINE_HZ // 2, abs=50)
    expected = to_int16(voice(0.5, PIPELINE_HZ))
    same = heard[at : at + len(expected)].astype(float)
    assert np.corrcoef(same[200:-200], expected[200 : len(same) - 200])[0, 1] > 0.999


def test_silence_before_an_answer_is_no_sound_and_a_drift_is_set_right_in_a_pause() -> None:
    tape = Tape()
    silent, loud = np.zeros(160, dtype=np.float32), np.full(160, 0.5, dtype=np.float32)
    at = 0
    for _ in range(10):
        tape.assistant(silent, PIPELINE_HZ, at)
        at += 160
    tape.assistant(loud, PIPELINE_HZ, at)
    for _ in range(2 + QUIET_SAMPLES // 160):
        at += 160
        tape.assistant(silent, PIPELINE_HZ, at)
    drifted = at + 160 + 30
    tape.assistant(loud, PIPELINE_HZ, drifted)
    heard = np.flatnonzero(tape.take_rest(10**6)[:, 1])
    assert list(heard) == [*range(1600, 1760), *range(drifted, drifted + 160)]


def test_sound_that_goes_on_elsewhere_begins_anew() -> None:
    tape, loud = Tape(), np.full(160, 0.5, dtype=np.float32)
    tape.assistant(loud, PIPELINE_HZ, 0)
    tape.assistant(loud, PIPELINE_HZ, 160 + JUMP_SAMPLES + 1)
    heard = np.flatnonzero(tape.take_rest(10**6)[:, 1])
    assert list(heard) == [*range(160), *range(161 + JUMP_SAMPLES, 321 + JUMP_SAMPLES)]


def test_what_is_silenced_is_not_heard() -> None:
    tape = Tape()
    tape.assistant(voice(2.0, 24_000), 24_000, 0)
    tape.silence(PIPELINE_HZ)
    tape.assistant(voice(0.5, 24_000), 24_000, 2 * PIPELINE_HZ)
    heard = tape.take_rest(10 * PIPELINE_HZ)[:, 1]
    assert heard[:PIPELINE_HZ].any()
    assert not heard[PIPELINE_HZ : 2 * PIPELINE_HZ].any()
    assert heard[2 * PIPELINE_HZ :].any()


@settings(max_examples=20)
@given(st.lists(st.integers(0, 60_000), max_size=8))
def test_any_moments_of_writing_give_the_same_record(moments: list[int]) -> None:
    def made(moments: list[int]) -> np.ndarray:
        tape, parts, sound = Tape(), list[np.ndarray](), to_int16(tone(2.0))
        for start in range(0, len(sound) - BLOCK_SAMPLES, BLOCK_SAMPLES):
            end = start + BLOCK_SAMPLES
            tape.person(sound[start:end], end)
            if start >= 8192:
                tape.assistant(np.full(512, 0.1, dtype=np.float32), PIPELINE_HZ, start)
            parts += [tape.take(min(moment, start)) for moment in moments]
        return np.concatenate([*parts, tape.take_rest(10**6)])

    assert np.array_equal(made(moments), made([]))
