"""Whole numbers and decimals in Han numerals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.text.han.numerals import by_digits, integer, plain, scaled


@pytest.mark.parametrize(
    ("language", "number", "said"),
    [
        ("zh", 0, "零"), ("zh", 10, "十"), ("zh", 20, "二十"), ("zh", 101, "一百零一"),
        ("zh", 1001, "一千零一"), ("zh", 12345, "一万二千三百四十五"), ("zh", 10**8, "一亿"),
        ("zh", 10**12, "一万亿"), ("ja", 101, "百一"), ("ja", 12345, "一万二千三百四十五"),
        ("ja", 10**8, "一億"), ("ja", 10**12, "一兆"),
    ],
)  # fmt: skip
def test_a_whole_number_is_said(language: str, number: int, said: str) -> None:
    assert integer(number, language) == said


VALUES = {char: value for value, char in enumerate("零一二三四五六七八九")}
STEPS = {"十": 10, "百": 100, "千": 1000}


def value(numerals: str) -> int:
    """What Han numerals below a hundred million are worth."""
    if "万" in numerals:
        high, low = numerals.split("万")
        return value(high) * 10_000 + value(low)
    total = digit = 0
    for char in numerals:
        if char in STEPS:
            total, digit = total + (digit or 1) * STEPS[char], 0
        else:
            digit = VALUES[char]
    return total + digit


@given(st.integers(1, 99_999_999), st.sampled_from(["zh", "ja"]))
def test_any_number_is_worth_what_it_was_written_for(number: int, language: str) -> None:
    assert value(integer(number, language)) == number


def test_decimals_leading_zeros_and_scales() -> None:
    assert plain("1,234.5", "zh") == "一千二百三十四点五"
    assert plain("007", "zh") == "零零七"
    assert scaled("1.2", 10**9, "ja") == "十二億"
    assert by_digits("110a") == "一一零"


def test_too_long_a_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="too large"):
        integer(10**16, "zh")
