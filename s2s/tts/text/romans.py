"""Roman numerals: which letters are some, and what they are worth. Any language. Pure."""

from __future__ import annotations

import re
import unicodedata

from s2s.tts.text.tracked import Tracked

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_TABLE = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_SIGNS = re.compile("[Ⅰ-ⅿↅↆ]+")


def roman(text: str) -> int | None:
    """Value of a well-formed Roman numeral below 4000 in capitals; None when it is none."""
    total, previous = 0, 0
    for char in reversed(text):
        value = _VALUES.get(char)
        if value is None:
            return None
        total += -value if value < previous else value
        previous = max(previous, value)
    return total if 0 < total < 4000 and to_roman(total) == text else None


def to_roman(number: int) -> str:
    """14 -> "XIV"."""
    text = ""
    for value, letters in _TABLE:
        count, number = divmod(number, value)
        text += letters * count
    return text


def read_roman_signs(text: Tracked, letters_after: re.Pattern[str]) -> None:
    """Write Unicode's Roman numerals (Ⅳ), which are nothing else, as digits in place.

    Args:
        text: without any of these numerals afterwards.
        letters_after: matches the end of a text after which letters are wanted, because the
            rule for a ruler or a century reads them.
    """
    if text.text.isascii():
        return
    text.sub(_SIGNS, lambda m: _plain(m, letters_after))


def _plain(match: re.Match[str], letters_after: re.Pattern[str]) -> str:
    letters = unicodedata.normalize("NFKC", match.group()).upper()
    value = roman(letters)
    if value is None or letters_after.search(match.string[: match.start()][-40:]):
        return letters
    return str(value)
