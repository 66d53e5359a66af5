"""English, fully. Pure: puts the rules in their order."""

from __future__ import annotations

from collections.abc import Callable

from s2s.tts.text.english.dates import read_dates
from s2s.tts.text.english.money import read_money
from s2s.tts.text.english.numbers import read_numbers
from s2s.tts.text.english.units import read_rates
from s2s.tts.text.english.words import (
    read_abbreviations,
    read_acronyms,
    read_initials,
    read_operators,
    read_romans,
    read_signs,
)
from s2s.tts.text.tracked import Tracked


def read_english(text: Tracked, knows: Callable[[str], bool]) -> None:
    """Rewrite `text` in place as it is said.

    Args:
        text: without markup and addresses.
        knows: whether the user's lexicon has a word.
    """
    read_initials(text)
    read_operators(text)
    read_money(text)
    read_dates(text)
    read_abbreviations(text)
    read_romans(text)
    read_numbers(text)
    read_rates(text)
    read_acronyms(text, knows)
    read_signs(text)
