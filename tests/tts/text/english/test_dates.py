"""English dates and times of day."""

from __future__ import annotations

import pytest

from s2s.tts.text.english.dates import read_dates
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2024-05-06", "May sixth, twenty twenty-four"),
        ("5/6/2024", "May sixth, twenty twenty-four"),
        ("6.5.2024", "May sixth, twenty twenty-four"),
        ("May 6, 2024", "May sixth, twenty twenty-four"),
        ("13/6/2024", "June thirteenth, twenty twenty-four"),
        ("6 May 2024", "the sixth of May, twenty twenty-four"),
        ("May 6th", "May sixth"),
    ],
)
def test_a_date_is_said(text: str, said: str) -> None:
    assert rewritten(read_dates, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("at 5:30", "at five thirty"),
        ("5:30 pm", "five thirty P M"),
        ("17:05", "seventeen oh five"),
        ("at 5pm", "at five P M"),
        ("10:00", "ten o'clock"),
    ],
)
def test_a_time_of_day_is_said(text: str, said: str) -> None:
    assert rewritten(read_dates, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("99:99", "99:99"),
        ("2024-13-45", "2024-13-45"),
        ("May I", "May I"),
        ("32/13/2024", "32/13/2024"),
    ],
)
def test_what_is_none_stays(text: str, said: str) -> None:
    assert rewritten(read_dates, text) == said
