"""English numbers."""

from __future__ import annotations

import pytest

from s2s.tts.text.english.numbers import plain_number, read_numbers
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("42", "forty-two"),
        ("1990s", "nineteen nineties"),
        ("the '90s", "the nineties"),
        ("3/4", "three quarters"),
        ("1 1/2", "one and a half"),
        ("½", "one half"),
        ("10-20", "ten to twenty"),
        ("21st", "twenty-first"),
        ("1,234.5", "one thousand two hundred thirty-four point five"),
        ("v2.10", "version two point ten"),
        ("1e6", "one times ten to the sixth"),
        ("2^3", "two cubed"),
        ("4:3", "four to three"),
        ("24/7", "twenty-four seven"),
        ("in 1905", "in nineteen oh five"),
        ("44 BC", "forty-four B C"),
        ("1080p", "ten eighty P"),
        ("#5", "number five"),
        ("911", "nine one one"),
        ("555-0199", "five five five, zero one nine nine"),
        ("10k", "ten thousand"),
    ],
)
def test_a_number_is_said(text: str, said: str) -> None:
    assert rewritten(read_numbers, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5", "five"),
        ("007", "zero zero seven"),
        ("1,000", "one thousand"),
        ("3.14", "three point one four"),
        ("12345678901", "one two three four five six seven eight nine zero one"),
    ],
)
def test_a_plain_one_has_no_unit(text: str, said: str) -> None:
    assert plain_number(text) == said
