"""English Roman numerals, where their neighbours say so."""

from __future__ import annotations

import pytest

from s2s.tts.text.english.romans import read_romans
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Henry V won", "Henry the Fifth won"),
        ("Chapter IV", "Chapter four"),
        ("Part I", "Part one"),
        ("World War II", "World War two"),
        ("MCMXCIV", "nineteen ninety-four"),
        ("the XIX century", "the nineteenth century"),
        ("Rocky IV", "Rocky four"),
        ("type II diabetes", "type two diabetes"),
    ],
)
def test_a_numeral_is_said(text: str, said: str) -> None:
    assert rewritten(read_romans, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the book I read", "the book I read"),
        ("Vitamin C", "Vitamin C"),
        ("I am", "I am"),
        ("MIX it", "MIX it"),
        ("a CD", "a CD"),
        ("Malcolm X spoke", "Malcolm X spoke"),
    ],
)
def test_letters_and_words_stay(text: str, said: str) -> None:
    assert rewritten(read_romans, text) == said
