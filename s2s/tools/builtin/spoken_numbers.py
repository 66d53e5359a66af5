"""Numbers as people say them, "two hundred and five", as digits. English; digits stay as they are.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_HALVES = {"half": Fraction(1, 2), "quarter": Fraction(1, 4)}
_DIGITS = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_GROUPED = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d,])")
MOST_DIGITS = 60
"""Of a number that is read; no person says a longer one."""


def words_of(text: str) -> list[str]:
    """Lower-case words, numbers and signs of a text, hyphens between number words gone."""
    plain = _GROUPED.sub(lambda found: found.group().replace(",", ""), text.lower())
    plain = re.sub(r"\b([a-z]+ty)-([a-z]+)\b", r"\1 \2", plain)
    return re.findall(r"\d+(?:\.\d+)?|\.\d+|[^\W\d_]+(?:'[^\W\d_]+)?|[^\s\w]", plain)


def read_number(words: Sequence[str]) -> tuple[Fraction, int] | None:
    """The number that `words` begin with, and of how many words it is made; None for none.

    "a hundred", "two point five" and "two and a half" are numbers; "a" alone is none.
    """
    whole = _digits(words) or _cardinal(words)
    if whole is None:
        return None
    value, used = whole
    rest = words[used:]
    if rest[:1] == ["point"] and (digits := _spelled(rest[1:])):
        return value + Fraction(f"0.{digits}"), used + 1 + len(digits)
    for joint in (["and", "a"], ["and"], []):
        after = rest[len(joint) :]
        if joint and rest[: len(joint)] == joint and after[:1] and after[0] in _HALVES:
            return value + _HALVES[after[0]], used + len(joint) + 1
    return value, used


def _digits(words: Sequence[str]) -> tuple[Fraction, int] | None:
    if not words or not _DIGITS.fullmatch(words[0]) or len(words[0]) > MOST_DIGITS:
        return None
    value, used = Fraction(words[0]), 1
    while len(words) > used and words[used] in SCALES:
        value, used = value * SCALES[words[used]], used + 1
        if used > 3:
            break
    return value, used


def _cardinal(words: Sequence[str]) -> tuple[Fraction, int] | None:
    """A number in words: groups below a thousand, each with its scale, the largest first."""
    total, group, used = 0, 0, 0
    begun = False
    below = 10**15
    """The last scale: the next must be smaller."""
    room = 1000
    """What the group may still take, so that "five twenty" is no number."""
    while used < len(words):
        word = words[used]
        if word in SMALL:
            value = SMALL[word]
            if begun and (value >= room or (value == 0 and used)):
                break
            group, room, begun = group + value, 10 if value >= 20 else 1, True
        elif word == "hundred" and 0 < group < 100:
            group, room = group * 100, 100
        elif word in ("a", "an") and not begun and words[used + 1 : used + 2]:
            following = words[used + 1]
            if following == "hundred" or following in SCALES:
                group, begun, room = 1, True, 1
            else:
                break
        elif word in SCALES and begun and group and SCALES[word] < below:
            below = SCALES[word]
            total, group, room = total + group * below, 0, min(1000, below)
        elif word == "and" and begun and _goes_on(words[used + 1 :], room):
            pass
        else:
            break
        used += 1
    return (Fraction(total + group), used) if begun else None


def _goes_on(words: Sequence[str], room: int) -> bool:
    """Behind "and" more of the same number follows: "a hundred and five"."""
    return bool(words) and 0 < SMALL.get(words[0], 0) < room and room >= 100


def _spelled(words: Sequence[str]) -> str:
    """Digits said one by one, or written."""
    found = ""
    for word in words:
        if SMALL.get(word, 10) > 9:
            break
        found += str(SMALL[word])
    return found
