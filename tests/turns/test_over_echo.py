"""The bar for speech over an echo."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.turns.over_echo import CLEAR_DB, HOLD_WINDOWS, OverEcho

BAR_DB = 6.0


def test_without_an_echo_the_voice_detector_decides() -> None:
    over = OverEcho(BAR_DB)
    assert over.probability(0.7, math.inf) == 0.7
    assert over.clear
    assert not over.echo


@pytest.mark.parametrize(
    ("over_db", "share"),
    [(-math.inf, 0.0), (0.0, 0.0), (3.0, 0.0), (4.5, 0.5), (6.0, 1.0), (30.0, 1.0)],
)
def test_what_the_echo_explains_is_no_speech(over_db: float, share: float) -> None:
    assert OverEcho(BAR_DB).probability(0.8, over_db) == pytest.approx(0.8 * share)


def test_one_window_alone_above_the_bar_is_no_speech() -> None:
    over = OverEcho(BAR_DB)
    over.probability(0.9, 0.0)
    assert over.probability(0.9, 12.0) == 0.0
    assert over.probability(0.9, 12.0) == 0.9


def test_the_soft_end_of_a_word_passes_a_lower_bar_for_a_while() -> None:
    over = OverEcho(BAR_DB)
    over.probability(0.9, 12.0)
    for _ in range(HOLD_WINDOWS):
        assert over.probability(0.9, 2.0) > 0.0
    assert over.probability(0.9, 2.0) == 0.0


def test_a_stretch_is_clear_when_enough_of_it_is_louder_than_any_echo() -> None:
    over = OverEcho(BAR_DB)
    for over_db in (1.0, 2.0, 12.0, 12.0):
        over.probability(0.9, over_db)
    assert over.echo
    assert not over.clear
    over.onset()
    for _ in range(3):
        over.probability(0.9, CLEAR_DB + 4.0)
    assert over.clear
    over.probability(0.1, -5.0)
    assert over.clear


@given(st.floats(0.0, 1.0), st.floats(-40.0, 40.0), st.floats(0.0, 40.0))
def test_more_over_the_echo_is_never_less_like_speech(
    probability: float, over_db: float, more_db: float
) -> None:
    less = OverEcho(BAR_DB).probability(probability, over_db)
    assert 0.0 <= less <= OverEcho(BAR_DB).probability(probability, over_db + more_db) <= 1.0
