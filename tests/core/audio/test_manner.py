"""The manner of speaking: steps, their ends, and what is only tried out."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio.manner import (
    FASTEST,
    MOST_VOLUME_DB,
    PLAIN_MANNER,
    SLOWEST,
    MannerChange,
    SpeakingManner,
    SpokenManner,
)

CHANGES: list[MannerChange] = list(get_args(MannerChange))


@given(st.lists(st.sampled_from(CHANGES), max_size=20))
def test_steps_never_lead_out_of_what_there_is(changes: list[MannerChange]) -> None:
    manner = SpeakingManner()
    for change in changes:
        manner = manner.changed(change)
    assert SLOWEST <= manner.speed <= FASTEST
    assert abs(manner.volume_db) <= MOST_VOLUME_DB


@pytest.mark.parametrize(("there", "back"), [("slower", "faster"), ("louder", "quieter")])
def test_a_step_there_and_back_is_none(there: MannerChange, back: MannerChange) -> None:
    assert PLAIN_MANNER.changed(there) != PLAIN_MANNER
    assert PLAIN_MANNER.changed(there).changed(back) == PLAIN_MANNER
    assert PLAIN_MANNER.changed(there).changed("normal") == PLAIN_MANNER


def test_the_last_step_is_the_same_again() -> None:
    manner = SpeakingManner()
    for _ in range(5):
        manner = manner.changed("faster").changed("louder")
    assert manner == manner.changed("faster") == SpeakingManner(FASTEST, MOST_VOLUME_DB)


def test_what_is_tried_out_is_heard_and_stays_only_when_it_is_settled() -> None:
    spoken, slow = SpokenManner(), PLAIN_MANNER.changed("slower")
    spoken.try_out(slow)
    assert (spoken.current, spoken.settled) == (slow, PLAIN_MANNER)
    spoken.try_out(None)
    assert spoken.current == PLAIN_MANNER
    spoken.settle()
    assert spoken.settled == PLAIN_MANNER
    spoken.try_out(slow)
    spoken.settle()
    spoken.try_out(None)
    assert (spoken.current, spoken.settled) == (slow, slow)
