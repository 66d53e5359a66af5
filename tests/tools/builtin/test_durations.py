"""How long something lasts, as people say it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tools.builtin.durations import in_words, read_duration, unit_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5 minutes", 300),
        ("five minutes", 300),
        ("an hour and a half", 5400),
        ("one and a half hours", 5400),
        ("half an hour", 1800),
        ("a quarter of an hour", 900),
        ("three quarters of an hour", 2700),
        ("1 hour 30 minutes", 5400),
        ("1h30m", 5400),
        ("two minutes and thirty seconds", 150),
        ("twenty-five minutes", 1500),
        ("in ten minutes.", 600),
        ("90 Sekunden", 90),
        ("2.5 hours", 9000),
        ("a minute", 60),
    ],
)
def test_what_is_said_is_read(text: str, seconds: float) -> None:
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["10", "a timer", "", "five", "minutes", "five apples", "soon"])
def test_what_is_no_duration(text: str) -> None:
    assert read_duration(text) is None


@given(st.integers(1, 3 * 86400))
def test_what_is_said_of_a_duration_is_read_back(seconds: int) -> None:
    assert read_duration(in_words(seconds)) == seconds


@given(st.text(max_size=40))
def test_any_text_is_a_duration_or_none(text: str) -> None:
    found = read_duration(text)
    assert found is None or found >= 0


def test_units_in_other_languages() -> None:
    assert [unit_of([word]) for word in ("minuten", "heures", "segundos", "monday", "")] == [
        60,
        3600,
        1,
        0,
        0,
    ]
