"""A client's sound comes in windows and in order, whatever it comes in; orders stand behind it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.clock import ManualClock
from s2s.core.messages import AudioIn, ResponseId
from s2s.transport.client_playback import ClientSound
from s2s.transport.client_transport import BACKLOG_S, LOOK_S, SOFT, SOFT_WINDOWS, ClientTransport

HZ = 24_000
FULL = int(BACKLOG_S * PIPELINE_HZ) // BLOCK_SAMPLES + 1
"""Windows that wait when there is room for no more."""


def ramp(start: int, count: int) -> Block:
    return np.arange(start, start + count, dtype=np.float32)


class Line:
    """A transport, what was heard of it, and when it was looked after."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.sounds: list[ClientSound] = []
        self.heard: list[AudioIn | str] = []
        self.ticks: list[float] = []
        self.rooms = 0
        self.quiet = False
        self.transport = ClientTransport(self.clock, HZ, self.sounds.append, on_room=self._room)

    def start(self) -> None:
        self.worker = self.clock.start(
            lambda: self.transport.run(self.heard.append, self._look), "client"
        )

    def wait(self, seconds: float) -> None:
        self.clock.wait_until(self.clock.now() + seconds)

    def order(self, name: str, *, whole: bool = False) -> None:
        self.transport.after_heard(lambda: self.heard.append(name), whole=whole)

    def names(self) -> list[str | int]:
        """Orders by name, windows by where they end."""
        return [each if isinstance(each, str) else each.end_sample for each in self.heard]

    def stop(self) -> None:
        self.transport.stop()
        self.wait(0.001)

    def _look(self) -> float | None:
        self.ticks.append(round(self.clock.now(), 6))
        return None if self.quiet else self.clock.now() + LOOK_S

    def _room(self) -> None:
        self.rooms += 1


# --- what is heard -------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 3 * BLOCK_SAMPLES), max_size=8))
def test_whatever_comes_is_heard_in_whole_windows_and_in_order(sizes: list[int]) -> None:
    line = Line()
    at = 0
    for size in sizes:
        assert line.transport.hear(ramp(at, size))
        at += size
    assert line.transport.heard_samples == at
    line.start()
    line.wait(0.01)
    windows = [each for each in line.heard if isinstance(each, AudioIn)]
    assert len(windows) == at // BLOCK_SAMPLES
    for number, window in enumerate(windows, 1):
        assert window.end_sample == number * BLOCK_SAMPLES
        assert np.array_equal(window.block, ramp((number - 1) * BLOCK_SAMPLES, BLOCK_SAMPLES))
    line.stop()


def test_a_window_was_captured_when_its_last_sample_was() -> None:
    line = Line()
    line.wait(2.0)
    line.transport.hear(ramp(0, 2 * BLOCK_SAMPLES + 160))
    line.start()
    line.wait(0.01)
    first, second = (each for each in line.heard if isinstance(each, AudioIn))
    assert round(second.captured_at_s, 6) == 2.0 - 0.010
    assert round(first.captured_at_s, 6) == 2.0 - 0.010 - 0.032
    line.stop()


def test_a_window_is_not_changed_by_who_sent_it() -> None:
    line = Line()
    sent = ramp(0, BLOCK_SAMPLES)
    line.transport.hear(sent)
    sent[:] = -1.0
    line.start()
    line.wait(0.01)
    (window,) = line.heard
    assert isinstance(window, AudioIn)
    assert np.array_equal(window.block, ramp(0, BLOCK_SAMPLES))
    line.stop()


def test_what_is_too_much_is_refused_whole_and_asked_for_when_there_is_room() -> None:
    line = Line()
    assert line.transport.hear(ramp(0, FULL * BLOCK_SAMPLES))
    before = line.transport.heard_samples
    assert not line.transport.hear(ramp(0, 10))
    assert line.transport.heard_samples == before
    assert line.rooms == 0
    line.start()
    line.wait(0.01)
    assert line.rooms == 1
    assert len(line.heard) == FULL
    assert line.transport.hear(ramp(0, 10))
    line.stop()
    assert line.rooms == 1


# --- orders --------------------------------------------------------------------------------------


def test_an_order_is_done_behind_all_that_was_sent_before_it() -> None:
    line = Line()
    line.transport.hear(ramp(0, BLOCK_SAMPLES))
    line.order("first")
    line.transport.hear(ramp(0, BLOCK_SAMPLES))
    line.order("second")
    line.start()
    line.wait(0.01)
    assert line.names() == [BLOCK_SAMPLES, "first", 2 * BLOCK_SAMPLES, "second"]
    line.stop()


def test_an_order_may_want_the_rest_of_a_window_to_be_heard() -> None:
    line = Line()
    line.transport.hear(ramp(1, 100))
    line.order("not yet")
    line.order("whole", whole=True)
    line.order("again", whole=True)
    line.transport.hear(ramp(0, BLOCK_SAMPLES))
    line.start()
    line.wait(0.01)
    assert line.names() == ["not yet", BLOCK_SAMPLES, "whole", "again", 2 * BLOCK_SAMPLES]
    padded = line.heard[1]
    assert isinstance(padded, AudioIn)
    assert np.array_equal(padded.block[:100], ramp(1, 100))
    assert not padded.block[100:].any()
    assert line.transport.heard_samples == 2 * BLOCK_SAMPLES
    line.stop()


# --- looking after what is on its way ------------------------------------------------------------


def test_it_is_looked_after_an_answer_while_the_client_sends_nothing() -> None:
    line = Line()
    line.start()
    line.wait(1.1)
    assert line.ticks == [LOOK_S, 2 * LOOK_S, 3 * LOOK_S, 4 * LOOK_S]
    line.stop()


def test_where_all_is_quiet_it_sleeps_until_something_comes() -> None:
    line = Line()
    line.quiet = True
    line.start()
    line.wait(10.0)
    assert line.ticks == [LOOK_S]
    line.transport.hear(ramp(0, BLOCK_SAMPLES))
    line.wait(10.0)
    assert line.ticks == [LOOK_S, 10.0]
    line.stop()


def test_sound_of_an_answer_wakes_it() -> None:
    line = Line()
    line.quiet = True
    line.start()
    line.wait(1.0)
    response = ResponseId("t", 0, 0, "a")
    line.transport.playback.write(ramp(0, 10), response, "hi", stale=lambda: False)
    line.wait(1.0)
    assert line.ticks == [LOOK_S, 1.0]
    assert [each.text for each in line.sounds] == ["hi"]
    line.stop()


def test_who_has_news_has_it_looked() -> None:
    line = Line()
    line.quiet = True
    line.start()
    line.wait(1.0)
    line.clock.start(line.transport.wake, "another")
    line.wait(1.0)
    assert line.ticks == [LOOK_S, 1.0]
    line.stop()


def test_less_than_a_window_wakes_nobody() -> None:
    line = Line()
    line.quiet = True
    line.start()
    line.wait(1.0)
    line.transport.hear(ramp(1, BLOCK_SAMPLES - 1))
    line.wait(1.0)
    assert not line.transport.waiting
    line.transport.hear(ramp(1, 1))
    assert line.transport.waiting
    line.wait(1.0)
    assert line.ticks == [LOOK_S, 2.0]
    assert line.names() == [BLOCK_SAMPLES]
    line.stop()


def soft(windows: int) -> Block:
    """A quiet room."""
    return np.full(windows * BLOCK_SAMPLES, 0.9 * SOFT, np.float32)


def idle() -> Line:
    """Nothing goes on."""
    line = Line()
    line.quiet = True
    line.start()
    line.wait(1.0)
    return line


def test_a_quiet_room_is_heard_in_pieces_where_nothing_else_goes_on() -> None:
    line = idle()
    for _ in range(4):
        line.transport.hear(soft(3))
        line.wait(0.1)
    assert len(line.heard) == SOFT_WINDOWS
    assert [round(at_s, 3) for at_s in line.ticks] == [LOOK_S, 1.3]
    line.stop()


def test_what_may_be_speech_is_heard_at_once_with_what_came_before() -> None:
    line = idle()
    line.transport.hear(soft(3))
    line.wait(0.1)
    assert line.heard == []
    line.transport.hear(np.full(BLOCK_SAMPLES, 2 * SOFT, np.float32))
    line.wait(0.001)
    assert len(line.heard) == 4
    line.stop()


def test_an_order_is_done_at_once_behind_a_quiet_room() -> None:
    line = idle()
    line.transport.hear(soft(2))
    line.order("now")
    line.wait(0.001)
    assert line.names() == [BLOCK_SAMPLES, 2 * BLOCK_SAMPLES, "now"]
    line.stop()


def test_while_something_goes_on_a_quiet_room_is_heard_at_once() -> None:
    line = Line()
    line.start()
    line.wait(0.1)
    line.transport.hear(soft(1))
    line.wait(0.001)
    assert len(line.heard) == 1
    line.stop()


def test_what_was_sent_to_the_client_makes_room_for_more() -> None:
    line = Line()
    playback, response = line.transport.playback, ResponseId("t", 0, 0, "a")
    size = playback.capacity_samples + 1
    playback.write(np.zeros(size, np.float32), response, "hi", stale=lambda: False)
    written: list[bool] = []
    line.clock.start(
        lambda: written.append(playback.write(ramp(0, 10), response, "ho", stale=lambda: False)),
        "writer",
    )
    line.wait(1.0)
    assert written == []
    line.transport.sent(1)
    line.wait(0.01)
    assert written == [True]


# --- the end -------------------------------------------------------------------------------------


def test_what_still_waits_at_the_end_is_not_heard() -> None:
    line = Line()
    line.transport.hear(ramp(0, 4 * BLOCK_SAMPLES))
    line.order("late")
    line.transport.stop()
    line.start()
    line.wait(1.0)
    assert line.heard == []
    assert line.ticks == []
    assert not line.worker.is_alive()


def test_an_order_may_end_it() -> None:
    line = Line()
    line.start()
    line.wait(0.1)
    line.transport.after_heard(line.transport.stop)
    line.wait(0.1)
    assert not line.worker.is_alive()


class Halving:
    """A tap that has the session hear half of what it takes."""

    def __init__(self) -> None:
        self.taken: list[AudioIn] = []

    def heard(self, window: AudioIn) -> AudioIn:
        self.taken.append(window)
        return replace(window, block=window.block / 2)

    def played(self, block: Block, rate_hz: int, at_s: float) -> None: ...

    def silenced(self, at_s: float) -> None: ...


def test_a_tap_takes_each_window_and_says_what_is_heard() -> None:
    line, tap = Line(), Halving()
    line.transport.record(tap)
    line.start()
    line.transport.hear(ramp(0, 2 * BLOCK_SAMPLES))
    line.wait(1.0)
    line.transport.stop()
    line.worker.join()
    assert line.names() == [BLOCK_SAMPLES, 2 * BLOCK_SAMPLES]
    heard = [each for each in line.heard if isinstance(each, AudioIn)]
    assert [list(2 * each.block) for each in heard] == [list(each.block) for each in tap.taken]
    assert line.transport.playback.tap is tap
