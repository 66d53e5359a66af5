"""Tells a dash between two numbers that means "to" from one that means "minus". Pure."""

from __future__ import annotations

import re

from s2s.tts.text.number_signs import CURRENCY_CHARS
from s2s.tts.text.tracked import Tracked

_UNIT = (
    r"(?:[%‰°]|° ?[CFK]|(?:km/h|m/s|km|cm|mm|kg|mg|ml|Uhr|GB|MB|TB|kWh|kW|MHz|GHz|Hz|ms|min"
    r"|[mghlst])"
    rf"(?!\w)|[{CURRENCY_CHARS}]|(?:EUR|USD|GBP|CHF)(?!\w))"
)
_NEXT = rf"(?=[−+±]?(?:[{CURRENCY_CHARS}] ?)?[.,]?\d|[½⅓⅔¼¾])"
_TIGHT = re.compile(rf"(?<![A-Za-z\d.,-])(\d[\d.,]*|\d*[½⅓⅔¼¾])(?:-|[–—])(?!\d+-\d){_NEXT}")
"""Not after a letter: "i7-13700" and "x86-64" are names."""
_WIDE = re.compile(rf"(?<=\d) ?[–—] ?{_NEXT}")
_AFTER_UNIT = re.compile(rf"(?<=\d)( ?{_UNIT}) ?[-–—] ?{_NEXT}")
_MINUS_MINUS = re.compile(r"(?<=\d) - (?=−)")
_SPACED_HYPHEN = re.compile(
    r"(?<![\w.,])(\d{1,9}(?:[.,]\d{1,9})?) - (?=(\d{1,9}(?:[.,]\d{1,9})?)(?![\d.,]*\d)("
    r" ?[=+*×/÷-])?)"
)


def read_ranges(text: Tracked, until: str, minus: str) -> None:
    """Replace the dash of every range in `text` in place.

    Args:
        text: its dates, times and identifiers are words already.
        until: what to say for a range.
        minus: what to write for a subtraction: "5 - 3", "5 - 9 =".
    """
    if not any(char in "-–—" for char in text.text):
        return
    read_spaced_hyphens(text, until, minus)
    text.sub(_AFTER_UNIT, lambda m: m[1] + until)
    text.sub(_TIGHT, lambda m: m[1] + until)
    text.sub(_WIDE, until)


def read_spaced_hyphens(text: Tracked, until: str, minus: str) -> None:
    """Only "5 - 9" and "9 - 5": a range where it rises, else a subtraction."""
    text.sub(_MINUS_MINUS, f" {minus} ")
    text.sub(_SPACED_HYPHEN, lambda m: m[1] + (until if _rises(m) else f" {minus} "))


def _rises(match: re.Match[str]) -> bool:
    low, high = (float(part.replace(",", ".")) for part in (match[1], match[2]))
    return low < high and match[3] is None
