"""Parts of the page: times, bars, turns, what was dropped."""

from __future__ import annotations

import re

import pytest

from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Timeline
from s2s.records.report.parts import bar, dropped_section, legend, moment, turn_items
from s2s.records.stages import STAGES, StageTime
from s2s.records.story import GivenAnswer, Mark, SaidTurn, Story


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0:00.0"), (59.96, "1:00.0"), (187.44, "3:07.4"), (3787.4, "1:03:07.4"), (-1, "0:00.0")],
)
def test_moments(seconds: float, shown: str) -> None:
    assert moment(seconds) == shown


def test_a_bar_is_as_wide_as_its_part_of_the_longest() -> None:
    html = bar([StageTime("transcript", 100.0), StageTime("first_played", 300.0)], 800.0)
    assert "width:50.00%" in html
    assert re.findall(r"width:([\d.]+)%;background:var\(--(\w+)\)", html) == [
        ("25.00", "transcript"),
        ("75.00", "first_played"),
    ]
    assert "400 ms" in html
    assert bar([], 800.0) == ""


def test_the_legend_names_each_colour() -> None:
    html = legend(list(STAGES))
    for point, name in STAGES.items():
        assert f"var(--{point})" in html
        assert name in html


def story() -> Story:
    turn = TurnId("s1-1", 0)
    response = ResponseId("s1-1", 0, 0, None)
    timeline = Timeline(turn, {"speech_stopped": 2.0, "transcript": 2.1, "first_played": 2.4})
    cut = GivenAnswer(response, 2.4, 4.0, "One. Two.", "One.", "cancelled", "turn_detected")
    cut.timeline = timeline
    asked = SaidTurn("s1-1", [(1.0, 2.0)], "count")
    aside = SaidTurn("s1-2", [(5.0, 6.0)], "hello Anna", "another voice")
    alone = GivenAnswer(ResponseId("r1", 0, 0, None), 7.0, None, "Hello?", "", "failed", "gone")
    marks = [Mark(3.9, "interruption", "cancel", "words"), Mark(8.0, "notice", "a notice")]
    return Story([asked, aside], [cut, alone], marks)


def test_turns_show_what_was_heard_of_each_answer() -> None:
    first, second, third = turn_items(story())
    assert "count" in first
    assert 'One.<span class="unplayed" title="not heard"> Two.</span>' in first
    assert "cancelled: turn_detected" in first
    assert "400 ms" in first
    assert "another voice" in second
    assert "no answer" in second
    assert "Hello?" in third
    assert "failed: gone" in third


def test_what_was_dropped_says_why() -> None:
    html = dropped_section(story())
    assert "cancel" in html
    assert "words" in html
    assert "another voice: hello Anna" in html
    assert "a notice" not in html
    assert dropped_section(Story()) == ""
