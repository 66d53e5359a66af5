"""How loud a voice was, in steps."""

from __future__ import annotations

import base64

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import to_int16
from s2s.records.report.levels import (
    MOST_STEPS,
    STEP_S,
    as_text,
    drawn,
    levels,
    levels_of,
    step_s_for,
)
from s2s.testing.simulator import tone


@given(st.lists(st.integers(0, 1000), max_size=8))
def test_any_pieces_give_the_same_levels(cuts: list[int]) -> None:
    rng = np.random.default_rng(1)
    both = rng.integers(-9000, 9000, (1000, 2)).astype(np.int16)
    pieces = np.split(both, sorted(cuts))
    for one, other in zip(levels(pieces, STEP_S), levels([both], STEP_S), strict=True):
        assert np.array_equal(one, other)
        assert len(one) == 4  # of 320 samples


def test_the_loudest_step_is_highest_and_silence_is_flat() -> None:
    sound = np.concatenate([np.zeros(16_000, dtype=np.float32), tone(1.0)])
    found = levels_of(sound, 16_000, STEP_S)
    assert len(found) == 100
    assert found.max() == 255
    assert not found[:50].any()
    stereo = np.stack([to_int16(sound), to_int16(sound)], axis=1)
    left, right = levels([stereo], STEP_S)
    assert np.array_equal(left, right)
    assert np.abs(left.astype(int) - found).max() <= 1


def test_nothing_has_no_levels() -> None:
    assert len(levels([], STEP_S)[0]) == 0
    assert len(levels_of(np.zeros(0, dtype=np.float32), 24_000, STEP_S)) == 0
    assert drawn(np.array([0.0, 1e-5])).max() < 10, "noise of a silent line is no voice"


def test_a_long_conversation_has_no_more_steps_than_a_page_holds() -> None:
    assert step_s_for(60.0) == STEP_S
    for hours in (1, 3, 24):
        assert hours * 3600 / step_s_for(hours * 3600) <= MOST_STEPS + 1


def test_levels_as_text() -> None:
    assert base64.b64decode(as_text(np.array([0, 7, 255], dtype=np.uint8))) == b"\x00\x07\xff"
