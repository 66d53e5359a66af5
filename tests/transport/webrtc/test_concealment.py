"""Gaps in sound: filled to the sample, softer and softer, and without a jump."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import Block
from s2s.transport.webrtc.concealment import LONGEST_GAP_S, MOST_CONCEALED, Concealment

HZ = 48_000
FRAME = 960


def frame(number: int) -> Block:
    """The frame of that number of one endless tone."""
    at = np.arange(number * FRAME, (number + 1) * FRAME)
    return np.sin(2 * np.pi * 200 * at / HZ).astype(np.float32)


def pushed(concealment: Concealment, numbers: list[int]) -> Block:
    blocks = [list(concealment.push(frame(n), n * FRAME)) for n in numbers]
    return np.concatenate(list(itertools.chain.from_iterable(blocks)))


def test_what_is_whole_passes_to_the_bit() -> None:
    concealment = Concealment(HZ)
    sound = pushed(concealment, [5, 6, 7])
    assert np.array_equal(sound, np.concatenate([frame(n) for n in (5, 6, 7)]))
    assert concealment.concealed == 0


def test_a_lost_frame_is_what_was_before_it_and_nothing_jumps_where_it_begins() -> None:
    concealment = Concealment(HZ)
    sound = pushed(concealment, [0, 2])
    assert len(sound) == 3 * FRAME
    steps = np.abs(np.diff(sound[: 2 * FRAME - 1]))
    assert float(steps.max()) < 0.05
    assert float(np.abs(sound[FRAME : 2 * FRAME]).max()) > 0.5
    assert concealment.concealed == FRAME


def test_a_long_gap_becomes_silence_and_the_clock_goes_on() -> None:
    sound = pushed(Concealment(HZ), [0, 20])
    assert len(sound) == 21 * FRAME
    assert not sound[(MOST_CONCEALED + 2) * FRAME : 20 * FRAME].any()


def test_who_did_not_send_for_long_is_not_filled_up() -> None:
    beyond = int(LONGEST_GAP_S * HZ / FRAME) + 2
    assert len(pushed(Concealment(HZ), [0, beyond])) == 2 * FRAME


def test_what_comes_too_late_is_left_out() -> None:
    assert len(pushed(Concealment(HZ), [0, 2, 1, 3])) == 4 * FRAME


@given(st.sets(st.integers(0, 60), min_size=1))
def test_any_loss_keeps_the_length(came: set[int]) -> None:
    sound = pushed(Concealment(HZ), sorted(came))
    assert len(sound) == (max(came) - min(came) + 1) * FRAME
    assert float(np.abs(sound).max()) <= 1.0
