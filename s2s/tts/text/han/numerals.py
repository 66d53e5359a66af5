"""Whole numbers and decimals in Han numerals. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

_DIGITS = "零一二三四五六七八九"
_SMALL_UNITS = ("", "十", "百", "千")


@dataclass(frozen=True, slots=True)
class Numerals:
    """Where Chinese and Japanese differ."""

    large_units: tuple[str, ...]
    fills_zeros: bool
    """Chinese says the gap in 105: 一百零五; Japanese does not: 百五."""


NUMERALS = {
    "zh": Numerals(("", "万", "亿", "万亿"), fills_zeros=True),
    "ja": Numerals(("", "万", "億", "兆"), fills_zeros=False),
}
MAX_DIGITS = 16


def by_digits(text: str) -> str:
    """Read "110" as "一一零"; other characters are left out."""
    return "".join(_DIGITS[ord(char) - 48] for char in text if "0" <= char <= "9")


def integer(number: int, language: str) -> str:
    """12345 -> "一万二千三百四十五".

    Raises:
        ValueError: more than `MAX_DIGITS` digits.
    """
    numerals = NUMERALS[language]
    if number == 0:
        return _DIGITS[0]
    groups: list[int] = []
    while number:
        number, group = divmod(number, 10_000)
        groups.append(group)
    if len(groups) > len(numerals.large_units):
        raise ValueError(f"number with {len(groups)} groups of four digits is too large")
    words = ""
    for place in reversed(range(len(groups))):
        group = groups[place]
        if not group:
            continue
        if words and numerals.fills_zeros and (group < 1000 or not groups[place + 1]):
            words += _DIGITS[0]
        words += _below_ten_thousand(group, numerals, leading=place > 0)
        words += numerals.large_units[place]
    return words[1:] if numerals.fills_zeros and words.startswith("一十") else words


def _below_ten_thousand(number: int, numerals: Numerals, *, leading: bool) -> str:
    words = ""
    gap = False
    for place in (3, 2, 1, 0):
        digit = number // 10**place % 10
        if not digit:
            gap = bool(words)
            continue
        if gap and numerals.fills_zeros:
            words += _DIGITS[0]
        gap = False
        silent_one = (
            digit == 1 and place > 0 and not numerals.fills_zeros and not (leading and place == 3)
        )
        words += ("" if silent_one else _DIGITS[digit]) + _SMALL_UNITS[place]
    return words


def plain(text: str, language: str) -> str:
    """Read "1,234.5"; a leading zero and too many digits are read digit by digit."""
    whole, _, fraction = text.replace(",", "").partition(".")
    if len(whole) > MAX_DIGITS or (len(whole) > 1 and whole[0] == "0" and not fraction):
        words = by_digits(whole)
    else:
        words = integer(int(whole or "0"), language)
    return f"{words}点{by_digits(fraction)}" if fraction else words


def scaled(text: str, scale: int, language: str) -> str:
    """ "1.2" times a billion is 十二亿."""
    value = Decimal(text.replace(",", "")) * scale
    if value == value.to_integral_value() and value < 10**MAX_DIGITS:
        return integer(int(value), language)
    return plain(text, language)
