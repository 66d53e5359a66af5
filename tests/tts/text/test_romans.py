"""What Roman numerals are worth."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.text.romans import read_roman_signs, roman, to_roman
from tests.support.rewriting import rewritten

LETTERS_AFTER = re.compile(r"\bLouis \Z")


@given(st.integers(1, 3999))
def test_a_numeral_is_worth_what_it_was_written_for(number: int) -> None:
    assert roman(to_roman(number)) == number


@pytest.mark.parametrize("text", ["IIII", "", "iv", "IC", "MMMM", "VX", "IVI", "A"])
def test_what_is_not_well_formed_is_none(text: str) -> None:
    assert roman(text) is None


def test_known_ones() -> None:
    assert [to_roman(number) for number in (4, 9, 14, 40, 1994)] == [
        "IV", "IX", "XIV", "XL", "MCMXCIV",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ⅳ", "4"),
        ("Kapitel Ⅲ.", "Kapitel 3."),
        ("Louis Ⅻ", "Louis XII"),
        ("IV", "IV"),
    ],
)
def test_signs_of_unicode_are_digits_but_for_rulers(text: str, said: str) -> None:
    assert rewritten(read_roman_signs, text, LETTERS_AFTER) == said
