"""Turns spoken words back into numbers: the judge of what `speakable` says.

Written apart from `s2s.tts.text`: it shares no code and no tables with it. It listens for the
value,
the sign and the unit, as a person does who writes down what is read out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from tests.support.heard_tables import (
    BELOW_THOUSAND,
    BOTH,
    JOINS,
    MINUS,
    PLUS,
    POINT,
    SCALES,
    UNITS,
    fold,
)

_HAN = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1000}
_HAN_SCALES = {"万": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_HAN_NUMBER = re.compile("[零一二三四五六七八九两十百千万亿億兆]+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LONGEST = 8
"""Words of a number below a thousand: "novecentos e noventa e nove" has five."""


@dataclass(frozen=True)
class Heard:
    """A number as it was heard."""

    value: Fraction
    sign: str = ""
    """"-", "+", "±" or none."""
    unit: str = ""


def hear(text: str, language: str) -> list[Heard]:
    """Every number in `text`, in order."""
    return _hear_han(text, language) if language in {"zh", "ja"} else _hear_words(text, language)


def values(text: str, language: str) -> list[Fraction]:
    """Only the values."""
    return [heard.value for heard in hear(text, language)]


def characters(text: str, language: str) -> str:
    """What is spelled: digits and single letters, in order."""
    if language in {"zh", "ja"}:
        return "".join(str(_HAN[char]) if char in _HAN else char for char in text
                       if char in _HAN or (char.isascii() and char.isalpha()))  # fmt: skip
    spelled = ""
    for word in _WORD.findall(fold(text)):
        value = BELOW_THOUSAND[language].get(word)
        if value is not None and value < 10:
            spelled += str(value)
        elif len(word) == 1:
            spelled += word.upper()
    return spelled


# --- languages with spaces ---------------------------------------------------------------------


def _hear_words(text: str, language: str) -> list[Heard]:
    words = _WORD.findall(fold(text))
    heard: list[Heard] = []
    at = 0
    while at < len(words):
        found = _number(words, at, language)
        if found is None:
            at += 1
            continue
        value, end = found
        sign = _sign_before(words, at, language)
        unit, end = _unit_after(words, end, language)
        heard.append(Heard(value, sign, unit))
        at = end
    return heard


def _number(words: list[str], at: int, language: str) -> tuple[Fraction, int] | None:
    whole = _whole(words, at, language)
    if whole is None:
        return None
    value, end = Fraction(whole[0]), whole[1]
    if words[end : end + 1] == [POINT[language]]:
        digits, after = _fraction_digits(words, end + 1, language)
        if digits:
            value += Fraction(int(digits), 10 ** len(digits))
            end = after
    while end < len(words) and (scale := SCALES[language].get(words[end])):
        value *= scale
        end += 1
    return value, end


def _fraction_digits(words: list[str], at: int, language: str) -> tuple[str, int]:
    """Digit by digit, or zeros and then a number: "zero cinco", "catorce"."""
    digits = ""
    while at < len(words):
        value, end = _small(words, at, language)
        if value is None or (digits.strip("0") and value > 9):
            break
        digits += str(value)
        at = end
        if value > 9:
            break
    return digits, at


def _whole(words: list[str], at: int, language: str) -> tuple[int, int] | None:
    """A whole number, its groups with their scales in falling order."""
    if language in {"de", "it"}:
        return _compound_whole(words, at, language)
    total, last_scale, end, found = 0, 10**15, at, False
    while end < len(words):
        start = end + 1 if found and words[end] in JOINS[language] else end
        value, after = _small(words, start, language)
        if value is None:
            scale = SCALES[language].get(words[start]) if start < len(words) and not found else None
            if scale != 10**3 or language == "en":
                break
            value, after = 1, start  # "mil" and "mille" stand alone
        scale = SCALES[language].get(words[after], 1) if after < len(words) else 1
        counts_millions = last_scale == 1000 and scale >= 10**6 and total < 10**6
        if (
            found
            and not counts_millions
            and (value == 0 or scale >= last_scale or value * scale >= last_scale)
        ):
            break
        end = after + (scale > 1)
        total += value * scale
        if found and last_scale == 1000 and scale >= 10**6:
            total = (total - value * scale + value) * scale  # "dos mil trescientos millones"
        last_scale, found = scale, True
        if scale == 1:
            break
    return (total, end) if found else None


def _small(words: list[str], at: int, language: str) -> tuple[int | None, int]:
    """The longest number below a thousand that starts here."""
    table = BELOW_THOUSAND[language]
    for length in range(min(_LONGEST, len(words) - at), 0, -1):
        value = table.get(" ".join(words[at : at + length]))
        if value is not None:
            return value, at + length
    return None, at


def _compound_whole(words: list[str], at: int, language: str) -> tuple[int, int] | None:
    """German and Italian write what is below a million in one word."""
    total, last_scale, end, found = 0, 10**15, at, False
    while end < len(words):
        if found and words[end] in JOINS[language] and end + 1 < len(words):
            end += 1
        value = _compound(words[end], language)
        if value is None:
            break
        scale = SCALES[language].get(words[end + 1], 1) if end + 1 < len(words) else 1
        scale = scale if scale >= 10**6 else 1
        if found and (value == 0 or value * scale >= last_scale):
            break
        total += value * scale
        end += 1 + (scale > 1)
        last_scale, found = scale, True
        if scale == 1:
            break
    return (total, end) if found else None


def _compound(word: str, language: str) -> int | None:
    table = BELOW_THOUSAND[language]
    if word in table:
        return table[word]
    for scale in ("tausend",) if language == "de" else ("mila", "mille"):
        head, found, tail = word.partition(scale)
        if not found:
            continue
        thousands = table.get(head) if head else 1
        rest = table.get(tail) if tail else 0
        if thousands is not None and rest is not None:
            return thousands * 1000 + rest
    return None


def _sign_before(words: list[str], at: int, language: str) -> str:
    before = " ".join(words[max(0, at - 3) : at])
    if before.endswith(BOTH[language]):
        return "±"
    if before.split()[-1:] == [MINUS[language]]:
        return "-"
    return "+" if before.split()[-1:] == [PLUS[language]] else ""


def _unit_after(words: list[str], at: int, language: str) -> tuple[str, int]:
    for skip in (0, 1):
        if skip and words[at : at + 1] not in (["de"], ["di"]):
            break
        for length in range(3, 0, -1):
            phrase = " ".join(words[at + skip : at + skip + length]).removeprefix("d'")
            if phrase in UNITS[language]:
                return UNITS[language][phrase], at + skip + length
    return "", at


# --- Chinese and Japanese ----------------------------------------------------------------------


def han_whole(text: str) -> int:
    """A number in Han numerals; a row of digits is read as it stands."""
    if len(text) > 1 and all(char in _HAN for char in text):
        return int("".join(str(_HAN[char]) for char in text))
    total, group, digit = 0, 0, 0
    for char in text:
        if char in _HAN:
            digit = _HAN[char]
        elif char in _HAN_PLACES:
            group += (digit or 1) * _HAN_PLACES[char]
            digit = 0
        else:
            group = (group + digit) or (total if total else 1)
            total = (
                total * _HAN_SCALES[char] if group == total else total + group * _HAN_SCALES[char]
            )
            group = digit = 0
    return total + group + digit


def _hear_han(text: str, language: str) -> list[Heard]:
    heard: list[Heard] = []
    at = 0
    while match := _HAN_NUMBER.search(text, at):
        if match.group() == "百" and text.startswith("分之", match.end()):
            at = match.end() + 2
            continue
        value, end = Fraction(han_whole(match.group())), match.end()
        if text.startswith("点", end) and (
            digits := re.match("[零一二三四五六七八九]+", text[end + 1 :])
        ):
            said = "".join(str(_HAN[char]) for char in digits.group())
            value += Fraction(int(said), 10 ** len(said))
            end += 1 + digits.end()
            if scale := re.match("[万亿億兆]+", text[end:]):
                value *= han_whole(scale.group())
                end += scale.end()
        before = text[: match.start()].rstrip()
        percent = before.endswith("百分之")
        before = before.removesuffix("百分之").rstrip()
        heard.append(
            Heard(value, _han_sign(before, language), _han_unit(text[end:], language, percent))
        )
        at = end
    return heard


def _han_sign(before: str, language: str) -> str:
    for words, sign in ((BOTH, "±"), (MINUS, "-"), (PLUS, "+")):
        if before.endswith(words[language]):
            return sign
    return ""


def _han_unit(after: str, language: str, percent: bool) -> str:
    if percent:
        return "percent"
    phrases = sorted(UNITS[language], key=len, reverse=True)
    return next((UNITS[language][phrase] for phrase in phrases if after.startswith(phrase)), "")
