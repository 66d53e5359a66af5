"""A timeline as stages: together they take as long as the answer took."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.messages import TurnId
from s2s.core.metrics import POINTS, Point, Timeline
from s2s.records.stages import STAGES, stages_of, typical

MARKS = st.dictionaries(st.sampled_from(POINTS), st.floats(0, 20))


@given(MARKS)
def test_stages_add_up_to_the_latency(marks: dict[Point, float]) -> None:
    timeline = Timeline(TurnId("a", 0), {"speech_stopped": 1.0, **marks})
    stages = stages_of(timeline)
    latency_ms = timeline.latency_ms
    total_ms = sum(stage.ms for stage in stages)
    assert total_ms == pytest.approx(max(0.0, latency_ms or 0.0), abs=0.6)
    assert all(stage.ms > 0 for stage in stages)
    assert {stage.point for stage in stages} <= set(STAGES)


def test_stages_are_in_the_order_in_which_they_were_reached() -> None:
    marks: dict[Point, float] = {
        "speech_stopped": 10.0,
        "transcript": 10.1,
        "first_token": 10.25,
        "first_audio": 10.4,
        "endpoint": 10.6,
        "committed": 10.7,
        "first_played": 10.75,
    }
    stages = stages_of(Timeline(TurnId("a", 0), marks))
    assert [(stage.point, round(stage.ms)) for stage in stages] == [
        ("transcript", 100), ("first_token", 150), ("first_audio", 150), ("endpoint", 200),
        ("committed", 100), ("first_played", 50),
    ]  # fmt: skip


def test_an_answer_that_nobody_heard_has_none() -> None:
    assert stages_of(Timeline(TurnId("a", 0), {"speech_stopped": 1.0, "endpoint": 2.0})) == []
    assert stages_of(Timeline(TurnId("a", 0), {"first_played": 2.0})) == []
    assert typical([]) is None


def test_what_is_typical() -> None:
    timelines = [
        Timeline(TurnId("a", n), {"speech_stopped": 0.0, "first_played": n / 10}) for n in (1, 2, 3)
    ]
    assert typical(timelines) == (pytest.approx(200), pytest.approx(290))
