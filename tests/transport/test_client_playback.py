"""What a client that plays by itself is believed to have heard, sample by sample."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import Block
from s2s.core.clock import ManualClock
from s2s.core.messages import ResponseId
from s2s.transport.client_playback import (
    AHEAD_S,
    KEPT_SOUND_S,
    REMEMBERED,
    UNSENT_S,
    BesidePlayback,
    ClientPlayback,
    ClientSound,
    SpokenUntil,
)

HZ = 1000
A = ResponseId("t", 0, 0, "a")
B = ResponseId("u", 0, 0, "b")


def never() -> bool:
    return False


def ramp(start: int, count: int) -> Block:
    return ((np.arange(start, start + count) + 1) / 32768).astype(np.float32)


class Client:
    """A client's playback in simulated time, and what came of it."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.sounds: list[ClientSound] = []
        self.told = 0
        self.playback = ClientPlayback(self.clock, HZ, self.sounds.append, self._report)
        self.shortened: list[tuple[ResponseId, str]] = []
        self.playback.on_shortened = lambda response, heard: self.shortened.append(
            (response, heard)
        )

    def _report(self) -> None:
        self.told += 1

    def write(
        self,
        seconds: float,
        text: str,
        response: ResponseId = A,
        stale: Callable[[], bool] = never,
    ) -> bool:
        block = np.zeros(round(seconds * HZ), dtype=np.float32)
        return self.playback.write(block, response, text, stale=stale)

    def reports(self) -> list[tuple[ResponseId, str, str]]:
        return [(each.response, each.what, each.text) for each in self.playback.reports()]

    def wait(self, seconds: float) -> None:
        self.clock.wait_until(self.clock.now() + seconds)


def test_a_rate_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="got 0"):
        ClientPlayback(ManualClock(), 0, print, print)


# --- in real time --------------------------------------------------------------------------------


def test_sound_is_handed_on_at_once_and_believed_to_play_in_real_time() -> None:
    client = Client()
    assert client.write(1.0, "one")
    assert client.write(1.0, "one two")
    assert [(len(each.block), each.text) for each in client.sounds] == [(HZ, "one"),
                                                                      (HZ, "one two")]  # fmt: skip
    seen: list[tuple[int, str]] = []
    for _ in range(4):
        seen.append((client.playback.played_samples, client.playback.heard_text))
        client.wait(0.75)
    assert seen == [(0, ""), (750, ""), (1500, "one"), (2000, "one two")]
    assert client.playback.plays_until_s == 2.0


def test_sound_that_comes_late_plays_from_when_it_comes() -> None:
    client = Client()
    client.write(1.0, "one")
    client.wait(3.0)
    client.write(1.0, "one two")
    assert client.playback.plays_until_s == 4.0
    client.wait(0.5)
    assert client.playback.heard_text == "one"
    assert client.playback.played_samples == 1500


def test_it_plays_while_a_response_is_open_or_its_sound_lasts() -> None:
    client = Client()
    assert not client.playback.playing
    client.write(1.0, "one")
    client.wait(1.5)
    assert client.playback.playing  # more may come
    client.playback.finish(A)
    assert not client.playback.playing
    client.write(1.0, "two", B)
    client.playback.finish(B)
    assert client.playback.playing
    client.wait(1.0)
    assert not client.playback.playing


def test_a_response_is_told_to_have_started_and_finished_once_each() -> None:
    client = Client()
    client.write(1.0, "one")
    client.write(1.0, "one two")
    assert client.playback.finish(A)
    assert client.reports() == [(A, "started", ""), (A, "finished", "one two")]
    assert client.told == 2
    assert client.reports() == []
    assert not client.playback.finish(A)
    assert not client.playback.finish(B)
    assert client.reports() == []


def test_the_newest_answer_is_the_one_that_is_heard() -> None:
    client = Client()
    assert client.playback.heard_text == ""
    client.write(1.0, "one")
    client.wait(1.0)
    client.playback.finish(A)
    client.write(1.0, "two", B)
    assert client.playback.heard_text == ""
    client.wait(1.0)
    assert client.playback.heard_text == "two"


# --- what is cleared -----------------------------------------------------------------------------


def test_what_is_cleared_was_heard_until_then_and_no_further() -> None:
    client = Client()
    client.write(1.0, "one")
    client.write(1.0, "one two")
    client.wait(1.25)
    client.playback.clear()
    assert client.reports() == [(A, "started", ""), (A, "cut", "one")]
    assert not client.playback.playing
    client.wait(5.0)
    assert client.playback.heard_text == "one"
    assert client.shortened == []


def test_an_answer_that_was_whole_is_shortened_to_what_was_heard_of_it() -> None:
    client = Client()
    client.write(1.0, "one")
    client.write(1.0, "one two")
    client.playback.finish(A)
    client.write(1.0, "three", B)
    client.wait(1.5)
    client.playback.clear()
    assert client.shortened == [(A, "one")]
    assert client.reports()[-1] == (B, "cut", "")
    client.playback.clear()
    assert client.shortened == [(A, "one")]


def test_what_was_played_to_its_end_is_not_shortened() -> None:
    client = Client()
    client.write(1.0, "one")
    client.playback.finish(A)
    client.wait(1.0)
    client.playback.clear()
    assert client.shortened == []
    assert client.reports()[1:] == [(A, "finished", "one")]


def test_only_what_is_unwanted_is_dropped() -> None:
    client = Client()
    client.write(1.0, "one")
    client.playback.drop(lambda response: response == B)
    assert client.playback.playing
    client.playback.drop(lambda response: response == A)
    assert not client.playback.playing
    assert client.reports()[-1] == (A, "cut", "")


# --- who waits -----------------------------------------------------------------------------------


def test_a_stale_block_is_not_handed_on_nor_one_after_the_end() -> None:
    client = Client()
    assert not client.write(1.0, "one", stale=lambda: True)
    client.playback.close()
    assert not client.write(1.0, "one")
    assert not client.playback.write_beside(ramp(0, 10), B, "two", stale=never)
    assert client.sounds == []
    assert client.reports() == []


def later(client: Client, seconds: float, stale: Callable[[], bool] = never) -> list[object]:
    """A block is written in a thread of its own; holds when that ended, and how."""
    ended: list[object] = []

    def write() -> None:
        ended.append((client.write(seconds, "late", stale=stale), client.clock.now()))

    client.clock.start(write, "writer")
    return ended


def test_who_is_too_far_ahead_waits_until_the_client_has_played_on() -> None:
    client = Client()
    client.write(AHEAD_S + 2.0, "one")
    client.playback.sent(len(client.sounds[0].block))
    ended = later(client, 1.0)
    client.wait(1.5)
    assert ended == []
    client.wait(1.0)
    assert ended == [(True, 2.0)]


def test_who_writes_to_a_client_that_does_not_read_waits_for_it() -> None:
    client = Client()
    client.write(UNSENT_S + 0.5, "one")
    ended = later(client, 1.0)
    client.wait(60.0)
    assert ended == []
    client.playback.sent(499)
    client.wait(1.0)
    assert ended == []
    client.playback.sent(1)
    client.wait(1.0)
    assert ended == [(True, 61.0)]


def test_who_waits_looks_again_when_woken_and_gives_up_at_the_end() -> None:
    client = Client()
    client.write(UNSENT_S + 1.0, "one")
    stale = False
    stops, closes = later(client, 1.0, lambda: stale), later(client, 1.0)
    client.wait(1.0)
    stale = True
    client.playback.wake()
    client.wait(1.0)
    assert (stops, closes) == ([(False, 1.0)], [])
    client.playback.close()
    client.wait(1.0)
    assert closes == [(False, 2.0)]
    assert len(client.sounds) == 1


def test_more_is_never_sent_than_there_was() -> None:
    client = Client()
    client.playback.sent(10**6)
    client.write(UNSENT_S + 1.0, "one")
    ended = later(client, 1.0)
    client.wait(5.0)
    assert ended == []
    client.playback.close()
    client.wait(0.0)


# --- what was handed on --------------------------------------------------------------------------


def test_a_truncated_answer_holds_the_words_spoken_until_then() -> None:
    client = Client()
    client.write(1.0, "one")
    client.write(1.0, "one two")
    client.playback.finish(A)
    assert client.playback.truncate(A, 1999) == SpokenUntil("one", 1999, 2000)
    assert not client.playback.playing
    assert client.playback.truncate(A, 5000) == SpokenUntil("one", 1999, 1999)
    assert client.playback.truncate(A, 0) == SpokenUntil("", 0, 1999)
    assert client.playback.truncate(B, 0) is None


def test_what_comes_behind_a_truncation_is_sent_but_not_counted() -> None:
    client = Client()
    client.write(1.0, "one")
    client.playback.truncate(A, 500)
    assert client.playback.playing  # it is still being made
    client.write(1.0, "one two")
    assert len(client.sounds) == 2
    sound = client.playback.sound(A)
    assert sound is not None
    assert len(sound) == 500
    client.playback.finish(A)
    assert client.reports()[-1] == (A, "finished", "")


def test_an_older_answer_is_cut_and_the_newest_plays_on() -> None:
    client = Client()
    client.write(1.0, "one")
    client.playback.finish(A)
    client.write(1.0, "two", B)
    client.playback.finish(B)
    assert client.playback.truncate(A, 100) == SpokenUntil("", 100, 1000)
    assert client.playback.playing


def test_the_sound_of_an_answer_is_kept_as_it_was_handed_on() -> None:
    client = Client()
    for start in (0, 100, 200):
        client.playback.write(ramp(start, 100), A, "one", stale=never)
    sound = client.playback.sound(A)
    assert sound is not None
    assert np.allclose(sound, ramp(0, 300), atol=1 / 65536)
    assert client.playback.sound(B) is None
    client.playback.forget(A)
    assert client.playback.sound(A) is not None  # it is still being made
    client.playback.finish(A)
    client.playback.forget(A)
    assert client.playback.sound(A) is None
    client.playback.forget(A)


def test_of_much_sound_the_oldest_is_let_go_of_and_its_words_are_not() -> None:
    client = Client()
    half_s = KEPT_SOUND_S / 2
    for response in (A, B):
        client.write(half_s, "one", response)
        client.playback.finish(response)
        client.playback.sent(10**6)
        client.wait(half_s)
    assert client.playback.sound(A) is not None
    client.write(1.0, "one two", ResponseId("v", 0, 0, "c"))
    assert client.playback.sound(A) is None
    assert client.playback.sound(B) is not None
    assert client.playback.truncate(A, round(1000 * half_s)) == SpokenUntil(
        "one", round(half_s * HZ), round(half_s * HZ)
    )


def test_so_many_responses_are_remembered() -> None:
    client = Client()
    for number in range(REMEMBERED + 1):
        response = ResponseId(f"t{number}", 0, 0, f"r{number}")
        client.write(0.01, "x", response)
        client.playback.finish(response)
    assert client.playback.truncate(ResponseId("t0", 0, 0, "r0"), 0) is None
    assert client.playback.truncate(ResponseId("t1", 0, 0, "r1"), 0) is not None


@given(
    st.lists(st.tuples(st.integers(1, 400), st.booleans()), min_size=1, max_size=12),
    st.integers(0, 6000),
)
def test_a_cut_holds_exactly_the_words_whose_sound_was_whole(
    blocks: list[tuple[int, bool]], end_ms: int
) -> None:
    client = Client()
    text, samples, expected = "", 0, ""
    for number, (count, says_more) in enumerate(blocks):
        text = f"{text} w{number}" if says_more else text
        client.playback.write(np.zeros(count, np.float32), A, text, stale=never)
        first_end = samples + count
        samples = first_end
        if says_more and first_end <= end_ms:
            expected = text
    assert client.playback.truncate(A, end_ms) == SpokenUntil(
        expected, min(end_ms, samples), samples
    )


# --- out of band ---------------------------------------------------------------------------------


def test_a_response_out_of_band_is_handed_on_and_never_believed_to_play() -> None:
    client = Client()
    beside = BesidePlayback(client.playback)
    assert beside.write(ramp(0, 100), B, "aside", stale=never)
    assert [each.text for each in client.sounds] == ["aside"]
    assert not beside.finish(B)
    assert not client.playback.playing
    assert client.playback.played_samples == 0
    assert beside.reports() == []
    assert client.reports() == []
    beside.clear()
    beside.close()
    assert beside.write(ramp(0, 100), B, "more", stale=never)
    assert not beside.write(ramp(0, 100), B, "stale", stale=lambda: True)


def test_it_waits_for_the_client_to_read_and_holds_up_who_is_behind() -> None:
    client = Client()
    beside = BesidePlayback(client.playback)
    assert beside.capacity_samples == UNSENT_S * HZ
    beside.write(ramp(0, round(UNSENT_S * HZ) + 1), B, "aside", stale=never)
    ended: list[bool] = []
    client.clock.start(
        lambda: ended.append(beside.write(ramp(0, 10), B, "aside more", stale=never)), "beside"
    )
    waits = later(client, 1.0)
    client.wait(1.0)
    assert (ended, waits) == ([], [])
    client.playback.sent(1)
    client.wait(1.0)
    assert ended == [True]
    assert len(client.sounds) == 2
    client.playback.sent(100)
    client.wait(1.0)
    assert waits


class Tap:
    """Takes what the client is believed to play."""

    def __init__(self) -> None:
        self.sound: list[tuple[float, int]] = []
        self.silent_s: list[float] = []

    def played(self, block: Block, rate_hz: int, at_s: float) -> None:
        assert rate_hz == HZ
        self.sound.append((round(at_s, 6), len(block)))

    def silenced(self, at_s: float) -> None:
        self.silent_s.append(round(at_s, 6))


def test_a_tap_takes_sound_when_it_is_believed_to_be_heard() -> None:
    client, tap = Client(), Tap()
    client.playback.tap = tap
    client.wait(1.0)
    for number in range(3):
        client.playback.write(ramp(0, HZ), A, f"{number}", stale=never)
    client.wait(1.5)
    client.playback.clear()
    client.playback.write(ramp(0, 10), B, "new", stale=never)
    assert tap.sound == [(1.0, HZ), (2.0, HZ), (3.0, HZ), (2.5, 10)]
    assert tap.silent_s == [2.5]
