"""A client's settings of turn detection as those of the turns stage."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.control import Eagerness, Hearing, SemanticVad, ServerVad
from s2s.session.client.hearing import (
    INTERRUPTS_MS,
    LONG_MS,
    ONSET_MS,
    UNDECIDED_S,
    turns_config,
)
from s2s.turns.config import TurnsConfig
from s2s.turns.provisional import ProvisionalConfig

CONFIG = TurnsConfig(provisional=ProvisionalConfig(enabled=True))
EAGER: tuple[Eagerness, ...] = ("low", "medium", "high")


def made(vad: ServerVad | SemanticVad | None, config: TurnsConfig = CONFIG) -> TurnsConfig:
    return turns_config(Hearing(vad), config)


def test_who_commits_by_hand_changes_nothing() -> None:
    assert made(None) is CONFIG


@pytest.mark.parametrize("vad", [ServerVad(), *map(SemanticVad, EAGER)], ids=str)
def test_no_answer_begins_before_the_client_was_told_of_its_turn(
    vad: ServerVad | SemanticVad,
) -> None:
    assert not made(vad).provisional.enabled


# --- silence alone -------------------------------------------------------------------------------


def test_the_numbers_of_the_client_are_those_of_the_segmenter() -> None:
    config = made(ServerVad(threshold=0.7, prefix_ms=250, silence_ms=800))
    assert config.segmenter.threshold == 0.7
    assert config.segmenter.pre_roll_ms == 250
    assert config.segmenter.min_speech_ms == config.segmenter.min_continue_ms == ONSET_MS
    assert {wait_ms for _, wait_ms in config.grace.curve} == {800}
    assert config.grace.silence_ms == 800


@pytest.mark.parametrize(("asked", "used"), [(0.0, 0.05), (1.0, 0.99), (0.2, 0.2)])
def test_a_threshold_that_hears_all_or_nothing_is_drawn_in(asked: float, used: float) -> None:
    segmenter = made(ServerVad(threshold=asked)).segmenter
    assert segmenter.threshold == used
    assert segmenter.hysteresis <= used / 2


def test_a_pause_that_is_waited_out_does_not_end_the_turn_before() -> None:
    long = made(ServerVad(silence_ms=30_000))
    assert long.segmenter.max_pause_ms > 30_000
    assert long.unanswered_reopen_ms > 30_000
    short = made(ServerVad(silence_ms=200))
    assert short.segmenter.max_pause_ms == CONFIG.segmenter.max_pause_ms
    assert short.unanswered_reopen_ms == CONFIG.unanswered_reopen_ms


@given(st.floats(0, 1), st.integers(0, 60_000), st.integers(0, 60_000))
def test_whatever_a_client_asks_for_is_a_setting_that_can_be(
    threshold: float, prefix_ms: int, silence_ms: int
) -> None:
    config = made(ServerVad(threshold, prefix_ms, silence_ms))
    waits = [wait_ms for _, wait_ms in config.grace.curve]
    assert set(waits) == {max(1, silence_ms)}


# --- words ---------------------------------------------------------------------------------------


def test_the_more_eager_waits_less_for_who_may_go_on() -> None:
    longest = [max(wait_ms for _, wait_ms in made(SemanticVad(each)).grace.curve) for each in EAGER]
    assert longest == sorted(longest, reverse=True)
    assert longest == [1000 * UNDECIDED_S[each] for each in EAGER]


@pytest.mark.parametrize("eagerness", EAGER)
def test_the_surer_it_is_the_shorter_the_wait(eagerness: Eagerness) -> None:
    config = made(SemanticVad(eagerness))
    odds = [each for each, _ in config.grace.curve]
    waits = [wait_ms for _, wait_ms in config.grace.curve]
    assert odds == sorted(set(odds))
    assert waits == sorted(waits, reverse=True)
    assert config.unanswered_reopen_ms > 1000 * UNDECIDED_S[eagerness]
    assert config.grace.silence_ms <= 1000 * UNDECIDED_S[eagerness]


def test_speech_over_an_answer_is_decided_soon() -> None:
    before, after = CONFIG.interruption, made(SemanticVad()).interruption
    assert after.decide_ms == INTERRUPTS_MS
    assert len(after.rules) == len(before.rules)
    for earlier, later in zip(before.rules, after.rules, strict=True):
        if "deadline" in earlier.when:
            assert later.min_active_ms <= LONG_MS
            assert replace(later, min_active_ms=earlier.min_active_ms) == earlier
        else:
            assert later == earlier


def test_what_the_client_does_not_speak_of_stays() -> None:
    config = replace(CONFIG, stalled_input_ms=123, partial_interval_ms=77)
    for vad in (ServerVad(), SemanticVad()):
        ours = made(vad, config)
        assert (ours.stalled_input_ms, ours.partial_interval_ms) == (123, 77)
        assert ours.input == config.input
