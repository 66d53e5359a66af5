"""Number words, against num2words where both should agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from s2s.tts.text.english.numerals import cardinal, decimal, digits, ordinal, year
from s2s.tts.text.han.numerals import by_digits, integer
from s2s.tts.text.romans import roman


def as_words(number: int, kind: str) -> str:
    """num2words in this project's style: no "and", no commas."""
    words = str(num2words(number, lang="en", to=kind))
    return words.replace(",", "").replace(" and ", " ")


@given(st.integers(-(10**15), 10**15))
def test_cardinals(number: int) -> None:
    assert cardinal(number) == as_words(number, "cardinal")


@given(st.integers(0, 10**9))
def test_ordinals(number: int) -> None:
    assert ordinal(number) == as_words(number, "ordinal")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1066, "ten sixty-six"),
        (1500, "fifteen hundred"),
        (1905, "nineteen oh five"),
        (1999, "nineteen ninety-nine"),
        (2000, "two thousand"),
        (2009, "two thousand nine"),
        (2010, "twenty ten"),
        (476, "four hundred seventy-six"),
    ],
)
def test_years(number: int, words: str) -> None:
    assert year(number) == words


def test_decimals_are_read_by_digits() -> None:
    assert decimal("-1,234.50") == "minus one thousand two hundred thirty-four point five zero"
    assert decimal(".5") == "zero point five"


def test_too_long_numbers_are_read_by_digits() -> None:
    assert cardinal(10**24).startswith("one zero zero")
    assert digits("a4-0") == "four zero"


@given(st.integers(1, 3999))
def test_roman_numerals_round_trip(number: int) -> None:
    text = ""
    rest = number
    for value, letters in zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    ):
        text += letters * (rest // value)
        rest %= value
    assert roman(text) == number


@pytest.mark.parametrize("text", ["", "IIII", "VX", "IC", "MMMM", "ABC", "iv"])
def test_what_is_no_roman_numeral(text: str) -> None:
    assert roman(text) is None


@pytest.mark.parametrize(
    ("number", "chinese"),
    [
        (0, "零"),
        (10, "十"),
        (15, "十五"),
        (105, "一百零五"),
        (110, "一百一十"),
        (2024, "二千零二十四"),
        (10_000, "一万"),
        (10_010, "一万零一十"),
        (1_000_005, "一百万零五"),
        (100_050_000, "一亿零五万"),
    ],
)
def test_chinese(number: int, chinese: str) -> None:
    assert integer(number, "zh") == chinese


@given(st.integers(1, 9_999_999))
def test_japanese(number: int) -> None:
    assert integer(number, "ja") == num2words(number, lang="ja")


def test_by_digits() -> None:
    assert by_digits("1-10") == "一一零"
