"""Running estimates of what a frame costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.qwen3.engine.costs import Costs, RunningCosts

MEASURED = Costs(20.0, 2.0, 9.0)


def test_half_the_way_to_a_slower_machine_is_gone_after_three_frames() -> None:
    running = RunningCosts(MEASURED)
    for _ in range(3):
        running.made(40.0)
        running.decoded(8, 148.0)
    assert 30 < running.costs.codes_ms < 40
    assert 111 < running.costs.decoded_ms(8) < 148


def test_a_faster_one_is_followed_more_slowly() -> None:
    running = RunningCosts(MEASURED)
    running.made(10.0)
    assert running.costs.codes_ms == pytest.approx(19)


def test_one_frame_that_lost_its_core_moves_little() -> None:
    running = RunningCosts(MEASURED)
    running.made(2000.0)
    assert running.costs.codes_ms == pytest.approx(30)


def test_what_was_never_measured_is_taken_as_it_comes() -> None:
    running = RunningCosts(Costs(0.0))
    running.made(12.0)
    running.decoded(4, 40.0)
    assert running.costs == Costs(12.0, 0.0, 10.0)


@given(
    st.lists(st.floats(1, 500), max_size=50),
    st.lists(st.tuples(st.integers(1, 25), st.floats(1, 500)), max_size=50),
)
def test_an_estimate_stays_between_what_was_measured_and_what_was_seen(
    frames: list[float], calls: list[tuple[int, float]]
) -> None:
    running = RunningCosts(MEASURED)
    for took_ms in frames:
        running.made(took_ms)
    for count, took_ms in calls:
        running.decoded(count, took_ms)
    costs = running.costs
    assert min([20.0, *frames]) - 1e-6 <= costs.codes_ms <= max([20.0, *frames]) + 1e-6
    assert costs.call_ms >= 0
    assert costs.decode_ms > 0
