"""What is heard, sample by sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.audio import Block
from s2s.core.clock import ManualClock
from s2s.core.messages import ResponseId
from s2s.transport.playback import DUCK_GAIN, Playback, PlaybackMode

HZ = 16_000
A = ResponseId("t", 0, 0, "a")
B = ResponseId("u", 0, 0, "b")


def never() -> bool:
    return False


def ramp(start: int, count: int) -> Block:
    return (np.arange(start, start + count, dtype=np.float32) + 1) / 1e6


def pulled(playback: Playback, count: int) -> Block:
    out = np.full(count, np.nan, dtype=np.float32)
    playback.pull(out)
    return out


def test_plays_in_order_then_silence() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(ramp(0, 100), A, "one", stale=never)
    out = pulled(playback, 150)
    assert np.array_equal(out[:100], ramp(0, 100))
    assert not out[100:].any()


def test_reports_when_a_response_starts_and_when_it_was_heard_whole() -> None:
    clock = ManualClock()
    playback = Playback(clock, HZ)
    playback.write(ramp(0, 100), A, "one", stale=never)
    playback.write(ramp(100, 100), A, "one two", stale=never)
    assert playback.finish(A)
    pulled(playback, 150)
    assert [(r.what, r.text) for r in playback.reports()] == [("started", "")]
    assert playback.playing
    pulled(playback, 150)
    assert [(r.what, r.text) for r in playback.reports()] == [("finished", "one two")]
    assert not playback.playing


def test_finish_after_the_last_sample_still_reports() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(ramp(0, 10), A, "x", stale=never)
    pulled(playback, 20)
    assert playback.finish(A)
    assert [r.what for r in playback.reports()] == ["started", "finished"]


def test_finish_of_a_response_without_sound_is_refused() -> None:
    assert not Playback(ManualClock(), HZ).finish(A)


def test_clear_silences_at_once_and_tells_what_was_heard() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(ramp(0, 100), A, "one", stale=never)
    playback.write(ramp(100, 100), A, "one two", stale=never)
    playback.write(ramp(200, 100), B, "three", stale=never)
    pulled(playback, 120)
    playback.clear()
    assert not pulled(playback, 50).any()
    reports = [(r.response, r.what, r.text) for r in playback.reports()]
    assert reports == [(A, "started", ""), (A, "cut", "one"), (B, "cut", "")]
    assert not playback.playing


def test_a_full_buffer_waits_and_goes_on_when_samples_were_played() -> None:
    clock = ManualClock()
    playback = Playback(clock, HZ, capacity_s=0.01)
    written: list[float] = []

    def write() -> None:
        for start in range(0, 320, 80):
            assert playback.write(ramp(start, 80), A, "", stale=never)
            written.append(clock.now())

    worker = clock.start(write, "sender")
    for _ in range(4):
        clock.wait_until(clock.now() + 1.0)
        pulled(playback, 80)
    worker.join()
    assert written == [0.0, 0.0, 1.0, 2.0]


def test_clear_releases_a_waiting_writer_without_writing() -> None:
    clock = ManualClock()
    playback = Playback(clock, HZ, capacity_s=0.01)
    stale = [False]
    results: list[bool] = []

    def write() -> None:
        results.extend(playback.write(ramp(0, 160), A, "", stale=lambda: stale[0]) for _ in "ab")

    worker = clock.start(write, "sender")
    clock.wait_until(1.0)
    stale[0] = True
    playback.clear()
    worker.join()
    assert results == [True, False]
    assert playback.waiting_samples == 0


def test_ducking_is_12_db_within_50_ms_and_does_not_click() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(np.full(8000, 0.5, dtype=np.float32), A, "", stale=never)
    pulled(playback, 800)
    playback.set_output(PlaybackMode.DUCKED)
    out = pulled(playback, 1600)
    assert np.abs(np.diff(out, prepend=0.5)).max() < 0.005
    assert out[HZ * 50 // 1000 :] == pytest.approx(0.5 * DUCK_GAIN, abs=1e-6)
    playback.set_output(PlaybackMode.NORMAL)
    out = pulled(playback, 1600)
    assert out[-1] == 0.5


def test_a_pause_goes_on_at_the_very_sample() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(ramp(0, 300), A, "", stale=never)
    first = pulled(playback, 100)
    playback.set_output(PlaybackMode.PAUSED)
    assert not pulled(playback, 100).any()
    assert playback.playing
    playback.set_output(PlaybackMode.NORMAL)
    assert np.array_equal(np.concatenate([first, pulled(playback, 200)]), ramp(0, 300))


def test_close_makes_writers_give_up() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.close()
    assert not playback.write(ramp(0, 10), A, "", stale=never)


def test_a_block_that_can_never_fit_is_an_error() -> None:
    playback = Playback(ManualClock(), HZ, capacity_s=0.01)
    with pytest.raises(ValueError, match="161"):
        playback.write(ramp(0, 161), A, "", stale=never)


def test_underruns_count_only_inside_a_response() -> None:
    playback = Playback(ManualClock(), HZ)
    pulled(playback, 100)
    assert playback.underruns == 0
    playback.write(ramp(0, 50), A, "", stale=never)
    pulled(playback, 100)
    assert playback.underruns == 1


@settings(max_examples=100, deadline=None)
@given(
    blocks=st.lists(st.integers(1, 400), max_size=10),
    pulls=st.lists(st.integers(1, 500), max_size=20),
)
def test_any_pulls_play_every_sample_once_in_order(blocks: list[int], pulls: list[int]) -> None:
    playback = Playback(ManualClock(), HZ, capacity_s=1.0)
    total = 0
    for count in blocks:
        playback.write(ramp(total, count), A, str(total + count), stale=never)
        total += count
    heard: list[float] = []
    for count in pulls:
        heard += [value for value in pulled(playback, count).tolist() if value != 0.0]
        done = [n for n in np.cumsum(blocks).tolist() if n <= len(heard)]
        playback.clear() if len(heard) == total and total else None
        for report in playback.reports():
            if report.what == "cut":
                assert report.text == (str(done[-1]) if done else "")
    assert heard == ramp(0, total)[: len(heard)].tolist()


# --- taking back ---------------------------------------------------------------------------------


def test_dropping_a_response_that_plays_silences_it_at_once() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(ramp(0, 100), A, "one", stale=never)
    playback.write(ramp(100, 100), A, "one two", stale=never)
    pulled(playback, 120)
    playback.drop(lambda response: response == A)
    assert not pulled(playback, 50).any()
    reports = [(r.response, r.what, r.text) for r in playback.reports()]
    assert reports == [(A, "started", ""), (A, "cut", "one")]
    assert not playback.playing


def test_dropping_one_that_waits_leaves_the_one_before_it_to_the_last_sample() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(ramp(0, 100), A, "one", stale=never)
    playback.finish(A)
    playback.write(ramp(100, 100), B, "two", stale=never)
    pulled(playback, 60)
    playback.drop(lambda response: response == B)
    rest = pulled(playback, 80)
    assert np.array_equal(rest[:40], ramp(60, 40))
    assert not rest[40:].any()
    reports = [(r.response, r.what, r.text) for r in playback.reports()]
    assert reports == [(A, "started", ""), (B, "cut", ""), (A, "finished", "one")]
    playback.write(ramp(0, 30), B, "three", stale=never)
    assert np.array_equal(pulled(playback, 30), ramp(0, 30))


def test_dropping_nothing_changes_nothing() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(ramp(0, 100), A, "one", stale=never)
    playback.drop(lambda response: response == B)
    assert np.array_equal(pulled(playback, 100), ramp(0, 100))


@settings(max_examples=200, deadline=None)
@given(
    first=st.lists(st.integers(1, 200), max_size=5),
    second=st.lists(st.integers(1, 200), max_size=5),
    heard=st.integers(0, 1500),
)
def test_a_drop_keeps_every_sample_of_what_came_before(
    first: list[int], second: list[int], heard: int
) -> None:
    playback = Playback(ManualClock(), HZ, capacity_s=1.0)
    for response, blocks in ((A, first), (B, second)):
        for count in blocks:
            playback.write(np.full(count, 0.5, np.float32), response, "x", stale=never)
    before = min(heard, sum(first) + sum(second))
    pulled(playback, heard) if heard else None
    playback.drop(lambda response: response == B)
    after = int(np.count_nonzero(pulled(playback, 2500)))
    assert after == max(0, sum(first) - before)
    assert playback.waiting_samples == 0


class Tap:
    """Takes what is played."""

    def __init__(self) -> None:
        self.sound: list[tuple[float, int, Block]] = []
        self.silent_s: list[float] = []

    def played(self, block: Block, rate_hz: int, at_s: float) -> None:
        self.sound.append((at_s, rate_hz, block.copy()))

    def silenced(self, at_s: float) -> None:
        self.silent_s.append(at_s)


def test_a_tap_takes_what_is_heard() -> None:
    clock, tap = ManualClock(), Tap()
    playback = Playback(clock, HZ)
    playback.tap = tap
    playback.write(ramp(0, 100), A, "one", stale=never)
    playback.set_output(PlaybackMode.DUCKED)
    heard = []
    for _ in range(3):
        clock.wait_until(clock.now() + 0.01)
        heard.append(pulled(playback, 40))
    playback.clear()
    assert [(at_s, rate_hz) for at_s, rate_hz, _ in tap.sound] == [
        (pytest.approx(0.01 * number), HZ) for number in (1, 2, 3)
    ]
    for mine, theirs in zip(heard, tap.sound, strict=True):
        assert np.array_equal(mine, theirs[2])
    assert tap.silent_s == [], "what waits was never pulled"


def test_a_cue_sounds_alone_and_is_no_answer() -> None:
    clock = ManualClock()
    playback = Playback(clock, HZ)
    playback.cue(ramp(0, 100))
    assert not playback.playing
    assert playback.wait_for_sound(clock.now()), "whoever plays is woken"
    assert np.array_equal(pulled(playback, 60), ramp(0, 60))
    out = pulled(playback, 60)
    assert np.array_equal(out[:40], ramp(60, 40))
    assert not out[40:].any()
    assert not playback.wait_for_sound(clock.now())
    assert playback.played_samples == playback.underruns == 0
    assert playback.reports() == []


def test_a_cue_sounds_over_an_answer_and_an_interruption_leaves_it() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(ramp(0, 200), A, "one", stale=never)
    playback.cue(np.full(150, 0.5, dtype=np.float32))
    assert np.allclose(pulled(playback, 100), ramp(0, 100) + 0.5)
    playback.clear()
    out = pulled(playback, 100)
    assert np.allclose(out[:50], 0.5)
    assert not out[50:].any()
    assert [(r.what, r.text) for r in playback.reports()] == [("started", ""), ("cut", "")]


def test_a_cue_over_a_loud_answer_stays_within_full_scale() -> None:
    playback = Playback(ManualClock(), HZ)
    playback.write(np.full(100, 0.9, dtype=np.float32), A, "one", stale=never)
    playback.cue(np.full(100, 0.9, dtype=np.float32))
    assert pulled(playback, 100).max() == 1.0
