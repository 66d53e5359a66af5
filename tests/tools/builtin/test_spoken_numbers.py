"""Numbers as they are said."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tools.builtin.spoken_numbers import SMALL, read_number, words_of


@pytest.mark.parametrize(
    ("text", "value", "used"),
    [
        ("seventeen", 17, 1),
        ("twenty-three apples", 23, 2),
        ("a hundred and five plus", 105, 4),
        ("two thousand three hundred", 2300, 4),
        ("two million", 2_000_000, 2),
        ("1,000,000", 1_000_000, 1),
        ("3 million", 3_000_000, 2),
        ("two point five", Fraction(5, 2), 3),
        ("two and a half", Fraction(5, 2), 4),
        ("five and six", 5, 1),
        ("twenty twenty", 20, 1),
        ("zero", 0, 1),
        (".5", Fraction(1, 2), 1),
    ],
)
def test_the_number_that_words_begin_with(text: str, value: int, used: int) -> None:
    assert read_number(words_of(text)) == (Fraction(value), used)


@pytest.mark.parametrize("text", ["a timer", "and five", "point five", "hundred", "", "of"])
def test_what_is_no_number(text: str) -> None:
    assert read_number(words_of(text)) is None


def in_words(number: int) -> str:
    """Below a million, in English."""
    names = {value: name for name, value in SMALL.items()}
    if number >= 1000:
        rest = f" {in_words(number % 1000)}" if number % 1000 else ""
        return f"{in_words(number // 1000)} thousand{rest}"
    if number >= 100:
        rest = f" and {in_words(number % 100)}" if number % 100 else ""
        return f"{names[number // 100]} hundred{rest}"
    if number in names:
        return names[number]
    return f"{names[number // 10 * 10]} {names[number % 10]}"


@given(st.integers(1, 999_999))
def test_every_number_is_read_as_it_is_said(number: int) -> None:
    words = words_of(in_words(number))
    assert read_number(words) == (Fraction(number), len(words))
