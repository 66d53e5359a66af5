"""How long: "an hour and a half", "1 h 30 min", "90 Sekunden". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from s2s.tools.builtin.spoken_numbers import read_number, words_of

_UNITS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (86400, ("day", "tag", "tage", "tagen", "jour", "día", "dia", "giorn", "dag")),
    (3600, ("h", "hr", "hour", "stunde", "heure", "hora", "ora", "ore", "uur", "uren")),
    (60, ("m", "min", "minut", "mins")),
    (1, ("s", "sec", "sek", "seg", "second", "sekund", "segund")),
)
_SHORT = 3
"""Words up to this length mean a unit only as they are; longer ones by their beginning."""
_NOTHING = {"and", "und", "et", "y", "e", "en", "for", "of", ",", "in", "about", "next", "the"}
_ONE = {"a", "an", "one", "ein", "eine", "einer", "une", "un", "una", "uma", "um", "een"}
_PARTS = {
    "half": Fraction(1, 2),
    "halbe": Fraction(1, 2),
    "quarter": Fraction(1, 4),
}
_QUARTERS = re.compile(r"\b(?:three|3) quarters\b")
_CLOCKS = (3600, 60, 1)


def read_duration(text: str) -> float | None:
    """Seconds that `text` says; None where it says none, or anything that is no duration."""
    words = words_of(_QUARTERS.sub("0.75", text.lower().replace("-", " ")))
    while words and words[-1] in (".", "!", "?"):
        words.pop()
    total, at, found = Fraction(0), 0, False
    unit = 0
    while at < len(words):
        part = _part(words[at:], unit)
        if part is not None:
            seconds, used, unit = part
            total, at, found = total + seconds, at + used, True
        elif words[at] in _NOTHING:
            at += 1
        else:
            return None
    return float(total) if found else None


def _part(words: Sequence[str], last_unit: int) -> tuple[Fraction, int, int] | None:
    """One number with its unit: seconds, words used, the unit. `last_unit`: of the part before."""
    number = read_number(words)
    if number is not None:
        value, used = number
        while tuple(words[used : used + 1]) in (("of",), ("a",), ("an",)):
            used += 1
        unit = unit_of(words[used : used + 1])
        return (value * unit, used + 1, unit) if unit else None
    # "half an hour", "a quarter of an hour", "an hour", "and a half"
    at = 1 if words[0] in _ONE else 0
    share = _PARTS.get(words[at]) if at < len(words) else None
    if share is None:
        unit = unit_of(words[1:2]) if at else 0
        return (Fraction(unit), 2, unit) if unit else None
    at += 1
    while at < len(words) and words[at] in (*_ONE, "of"):
        at += 1
    unit = unit_of(words[at : at + 1])
    if unit:
        return share * unit, at + 1, unit
    if last_unit and at == len(words):
        return share * last_unit, at, last_unit
    return None


def unit_of(words: Sequence[str]) -> int:
    """Seconds of the unit that the first word is; 0 for none."""
    word = words[0] if words else ""
    for seconds, names in _UNITS:
        for name in names:
            if word == name or (
                len(name) >= _SHORT and len(word) > _SHORT and word.startswith(name)
            ):
                return seconds
    return 0


def in_words(seconds: float) -> str:
    """A duration as it is said: "1 hour 30 minutes"."""
    left = max(1, round(seconds))
    parts: list[str] = []
    for unit, name in zip(_CLOCKS, ("hour", "minute", "second"), strict=True):
        count, left = divmod(left, unit)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(parts)
