"""A dash between numbers means "to", or "minus"."""

from __future__ import annotations

import pytest

from s2s.tts.text.number_ranges import read_ranges, read_spaced_hyphens
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3-5", "3 to 5"),
        ("10–20 km", "10 to 20 km"),
        ("5 km - 9 km", "5 km to 9 km"),
        ("2 – 3", "2 to 3"),
        ("−3 – 5", "−3 to 5"),
        ("$5–$6", "$5 to $6"),
        ("5 - 9", "5 to 9"),
        ("9 - 5", "9 − 5"),
        ("½–¾", "½ to ¾"),
    ],
)
def test_a_range_is_said(text: str, said: str) -> None:
    assert rewritten(read_ranges, text, " to ", "−") == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1-2-3", "1-2-3"),
        ("A-1", "A-1"),
        ("covid-19", "covid-19"),
        ("a - 9", "a - 9"),
    ],
)
def test_a_chain_or_a_name_is_none(text: str, said: str) -> None:
    assert rewritten(read_ranges, text, " to ", "−") == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5 - 9", "5 to 9"),
        ("9 - 5", "9 − 5"),
        ("3-5", "3-5"),
        ("a - 9", "a - 9"),
    ],
)
def test_only_spaced_hyphens(text: str, said: str) -> None:
    assert rewritten(read_spaced_hyphens, text, " to ", "−") == said
