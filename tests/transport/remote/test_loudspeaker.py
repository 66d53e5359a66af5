"""What is played of a server's answers, and how much of each item was heard."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.clock import ManualClock
from s2s.core.messages import ResponseId
from s2s.transport.playback import Playback
from s2s.transport.remote.loudspeaker import WIRE_HZ, RemoteSpeech

TICK = 240


def item(number: int) -> ResponseId:
    return ResponseId("turn", 0, number, f"item_{number}")


def sound(number: int, samples: int) -> np.ndarray:
    """Each item has a value of its own, so that what is played tells whose it is."""
    return np.full(samples, 0.001 * (number + 1), dtype=np.float32)


class Room:
    """A loudspeaker in simulated time that notes what was played of each item."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.playback = Playback(self.clock, WIRE_HZ, capacity_s=0.5)
        self.speech = RemoteSpeech(self.playback, self.clock)
        self.played: dict[int, int] = {}
        self.order: list[int] = []

    def play(self, seconds: float) -> None:
        for _ in range(int(seconds * WIRE_HZ / TICK)):
            self.clock.wait_until(self.clock.now() + TICK / WIRE_HZ)
            out = np.empty(TICK, dtype=np.float32)
            self.playback.pull(out)
            for value, count in zip(
                *np.unique(np.round(1000 * out), return_counts=True), strict=True
            ):
                number = int(value) - 1
                if number >= 0:
                    self.played[number] = self.played.get(number, 0) + int(count)
                    if self.order[-1:] != [number]:
                        self.order.append(number)

    def close(self) -> None:
        self.speech.close()


def test_items_are_played_whole_and_in_order() -> None:
    room = Room()
    for number in range(3):
        for _ in range(5):
            room.speech.add(item(number), sound(number, 4800), "text")
        room.speech.end(item(number))
    assert room.speech.sounding
    room.play(3.2)
    assert room.played == {0: 24_000, 1: 24_000, 2: 24_000}
    assert room.order == [0, 1, 2]
    assert not room.speech.sounding
    assert room.speech.cut() == {}
    room.close()


def test_what_was_cut_is_silent_and_what_comes_after_is_played() -> None:
    room = Room()
    room.speech.add(item(0), sound(0, 48_000), "")
    room.play(0.75)
    assert room.speech.cut() == {item(0): 750}
    room.play(0.5)
    assert room.played == {0: 18_000}
    room.speech.add(item(1), sound(1, 2400), "")
    room.speech.end(item(1))
    room.play(0.5)
    assert room.played == {0: 18_000, 1: 2400}
    room.close()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "add", "end", "play", "play", "cut"]),
            st.integers(1, 20_000),
        ),
        max_size=40,
    )
)
def test_what_is_told_of_a_cut_is_what_was_played(steps: list[tuple[str, int]]) -> None:
    room = Room()
    number, added, told = 0, dict[int, int](), dict[int, int]()
    for what, amount in steps:
        match what:
            case "add":
                room.speech.add(item(number), sound(number, amount), "")
                added[number] = added.get(number, 0) + amount
            case "end":
                room.speech.end(item(number))
                number += 1
            case "play":
                room.play(amount / WIRE_HZ)
            case _:
                for each, ms in room.speech.cut().items():
                    told[each.cancel_generation] = ms
                number += 1
    room.play(sum(added.values()) / WIRE_HZ + 1.0)
    for each, samples in added.items():
        if each in told:
            assert told[each] == 1000 * room.played.get(each, 0) // WIRE_HZ
        else:
            assert room.played[each] == samples
    room.close()
