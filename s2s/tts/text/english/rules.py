"""English, fully. Pure: puts the rules in their order."""

from __future__ import annotations

from collections.abc import Callable

from s2s.tts.text.digit_words import DIGIT_WORDS
from s2s.tts.text.english.abbreviations import read_abbreviations, read_initials
from s2s.tts.text.english.acronyms import read_acronyms
from s2s.tts.text.english.dates import read_dates
from s2s.tts.text.english.money import read_money
from s2s.tts.text.english.numbers import read_numbers
from s2s.tts.text.english.romans import LETTERS_AFTER, read_romans
from s2s.tts.text.english.signs import read_operators, read_signs
from s2s.tts.text.english.units import read_rates
from s2s.tts.text.identifiers import Spelling, read_identifiers
from s2s.tts.text.names import SIGN_NAMES
from s2s.tts.text.romans import read_roman_signs
from s2s.tts.text.tracked import Tracked

_SPELLING = Spelling(DIGIT_WORDS["en"], SIGN_NAMES["en"], "plus")


def read_english(text: Tracked, knows: Callable[[str], bool]) -> None:
    """Rewrite `text` in place as it is said.

    Args:
        text: without markup and addresses.
        knows: whether the user's lexicon has a word.
    """
    read_roman_signs(text, LETTERS_AFTER)
    read_romans(text)
    read_initials(text)
    read_identifiers(text, _SPELLING, addresses=False)
    read_operators(text)
    read_money(text)
    read_dates(text)
    read_abbreviations(text)
    read_numbers(text)
    read_rates(text)
    read_acronyms(text, knows)
    read_signs(text)
