"""Reads English numbers: plain, years, ranges, fractions, phone numbers, units. Pure.

Rules run from the most to the least specific; each leaves only words behind, so that no later rule
sees a number twice.
"""

from __future__ import annotations

import re

from s2s.tts.text.english.numerals import NUMBER, cardinal, decimal, digits, ordinal, year
from s2s.tts.text.english.units import read_units
from s2s.tts.text.number_ranges import read_ranges, read_spaced_hyphens
from s2s.tts.text.tracked import Tracked

_GROUPED_DIGITS = re.compile(
    r"(?<![\w.,-])(?<!\d )(?:\d{3,4} \d{3} \d{3,4}|\d{3}-\d{4})(?![\w-]|[.,]\d| ?[€$£%])"
)
"""Local phone numbers as English-speaking countries write them; `identifiers` has all others."""
_TOLL_FREE = re.compile(r"(?<![\w-])(1)-(8\d\d)-(?=[A-Z]{3})")
_FOREIGN_GROUPS = re.compile(
    r"(?<![\w.,])(?<!\d )[1-9]\d{0,2}(?:(?: \d{3}){2,}|(?:\.\d{3})*\.000(?:\.\d{3})*)(?![\w.]|,\d"
    r"| \d)"
)
"""1 000 000 and 1.000.000, as others write a million; one group alone is a decimal."""
_CHAIN = re.compile(r"(?<![\w.,])\d+(?:-\d+){2,}(?!\w)")
_DIGIT_RUN = re.compile(r"\d+")
_ZIP = re.compile(
    r"\b((?:zip|postal)(?: code)?(?: is)?:? |(?<=[a-z], )[A-Z]{2} )(\d{5}(?:-\d{4})?)\b", re.I
)
_EMERGENCY = re.compile(r"(?<![\w.,$€£-])911(?![\w%]|[.,]\d)")
_DOTTED = re.compile(r"(?<![\w.])(\d+(?:\.\d+){2,})(?::(\d{2,5}))?(?![\w]|\.\d)")
_VERSION = re.compile(r"\b[vV](?:er)?\.? ?(\d+(?:\.\d+)*)\b")
_SCIENTIFIC = re.compile(rf"(?<![\w.])({NUMBER})[eE]([+−-]?\d{{1,3}})\b")
_TIMES_TEN = re.compile(r"(?<=\d) ?[×x*] ?10\^?([⁻⁺]?[⁰¹²³⁴-⁹]+|(?<=\^)[+−-]?\d{1,3})")
_SUPERSCRIPT_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−ⁿ", "0123456789-+-n")
_POWER = re.compile(r"(?<=[\w)])(?:\^[\{(]?([+−-]?\w+)[\})]?|([⁻⁺]?[⁰¹²³⁴-⁹ⁿ]+))(?![A-Za-z_])")

_ROOT = re.compile(r"(?<![\w.])(\d{1,3}|[a-z])(?=√)√")
_SPECIAL_SLASH = {"24/7": "twenty-four seven", "9/11": "nine eleven", "50/50": "fifty-fifty"}
_FRACTION = re.compile(r"(?<![\w/.,])(?:(\d+)[ -])?(\d{1,4})/(\d{1,4})(?![\w/]|\.\d)")
_SCORE = re.compile(r"(?<![\w/.,])(\d+(?:\.\d+)?)/(5|10|20|100)(?![\w/]|\.\d)")
_VULGAR = re.compile(r"(?:(\d+) ?)?([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒])")
_VULGAR_PARTS = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5),
    "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8),
    "⅞": (7, 8), "⅐": (1, 7), "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 32, 64})

_EQUATION_MINUS = re.compile(r"(?<=\d) ?- ?(?=\d+(?:\.\d+)? ?=)")
_RANGE = re.compile(
    rf"(?<![\w.,-])({NUMBER}%?) ?(?:–|—|-) ?(?=[−±]?(?P<high>{NUMBER})(?!-\d|[\d,]*/))"
)
_YEAR_SPAN = re.compile(
    r"(?<![\w.,$€£-])(1[1-9]\d\d|20\d\d)(–|-| to )(\d{4}|\d{2})(?![\w/-]|[.,]\d)"
)
_SEASON = re.compile(r"(?<![\w.,$€£/-])(1[1-9]\d\d|20\d\d)(/)(\d{4}|\d{2})(?![\w/-]|[.,]\d)")
_CENTURY_DECADE = re.compile(r"(?<![\w.,])(1[1-9]|20)(\d)0'?s\b")
_LONE_DECADE = re.compile(
    r"\b((?:the|his|her|their|my|your|our|early|mid|late)[ -])'?(\d)?(\d)0'?s\b|(?<!\w)'(\d)0s\b"
)
_DECADES = "hundreds tens twenties thirties forties fifties sixties seventies eighties nineties"
_ORDINAL = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(?:st|nd|rd|th)\b", re.I)
_YEAR_WORD = re.compile(
    r"\b((?:in|since|until|till|by|from|before|after|during|circa|around|early|late|mid|year|of|and|to"
    r"|summer|winter|spring|fall|autumn|election|©|copyright) |(?<=[a-z]{3}), |\()"
    r"(1[1-9]\d\d|20\d\d)(?![\w%]|[.,:]\d| ?(?:[a-z]+s|people|percent)\b)",
    re.I,
)
_EARLY_YEAR = re.compile(
    r"\b((?:in|since|until|before|after|during|year) )(10\d\d)(?![\w%]|[.,:]\d| ?[a-z]+s\b)", re.I
)
_ERA = re.compile(r"\b(\d{1,4}) ?(BCE?|CE|AD)\b|\b(AD) (\d{1,4})\b")
_YEAR_PREFIX = re.compile(r"\b(?:pre|post|mid|early|late)-(1[1-9]\d\d|20\d\d)(?![\w]|[.,]\d)", re.I)
_MODERN_YEAR = re.compile(
    r"(?<![\w.,$€£#+-])(19\d\d|20\d\d)(?![\w%+]|[.,]\d| ?(?:[a-z]+s|people|percent)\b)"
)
_MAGNITUDE = re.compile(
    rf"(?<![\w.,-])({NUMBER})(k|K|M|mn|bn|B|T)(?![\w])(?! (?:video|TV|display|resolution))"
    r"(?<!\b[2468]K(?! [a-z]+s\b))(?<!\d[BT](?= [A-Z][a-z]))"
)
_MAGNITUDES = {
    "k": "thousand", "K": "thousand", "M": "million", "mn": "million", "bn": "billion",
    "B": "billion", "T": "trillion",
}  # fmt: skip
_BY = re.compile(rf"(?<=\d) ?[x×] ?(?={NUMBER})")
_MULTIPLE = re.compile(rf"(?<![\w.])({NUMBER})[x×](?!\w)")
_TRIPLE_RATIO = re.compile(r"(?<![\w.:])(\d{1,4}):(\d{1,4}):(\d{1,4})(?![\w:])")
_RATIO = re.compile(r"(?<![\w.:])(\d{1,3}):(\d{1,6})(?![\w:])")
_PLUS_SIGN = re.compile(r"(?<![\w.)\]+])\+(?=\.?\d)")
_TRAILING_PLUS = re.compile(r"(?<=\d)\+(?![\w+=]| ?\d)")
_LETTER_DIGIT = re.compile(r"(?<=[A-Za-z])-?(?=\d)|(?<=\d)(?=[A-Za-z])|(?<=\d)-(?=\d)")
_PLAIN = re.compile(NUMBER)
_NUMBER_SIGN = re.compile(r"(?<!\w)(?:#|№|[Nn]o\.|[Nn]os\.) ?(?=\d)")
_SCREEN_LINES = re.compile(r"(\d+)p\b")
LONG_DIGITS = 11
"""A bare number this long is an account or an id: it is read digit by digit."""


def read_numbers(text: Tracked) -> None:
    """Replace every number in `text` in place. Dates, times and money were read before."""
    if not any(char.isdigit() or char in _VULGAR_PARTS for char in text.text):
        return
    text.sub(_GROUPED_DIGITS, _read_groups)
    text.sub(_CHAIN, _read_groups)
    text.sub(_TOLL_FREE, lambda m: f"{digits(m[1])}, {digits(m[2])}, ")
    text.sub(_FOREIGN_GROUPS, lambda m: m.group().replace(" ", ",").replace(".", ","))
    text.sub(_EMERGENCY, "nine one one")
    text.sub(_ZIP, lambda m: m[1] + digits(m[2]))
    text.sub(_VERSION, lambda m: f"version {_dotted(m[1])}")
    text.sub(_DOTTED, lambda m: _dotted(m[1]) + (f" colon {plain_number(m[2])}" if m[2] else ""))
    text.sub(_NUMBER_SIGN, "number ")
    text.sub(_TIMES_TEN, lambda m: f" times ten to the {_exponent(m[1])}")
    text.sub(_SCIENTIFIC, lambda m: f"{decimal(m[1])} times ten to the {_exponent(m[2])}")
    _read_fractions(text)
    _read_spans(text)
    text.sub(_CENTURY_DECADE, _read_century_decade)
    text.sub(_LONE_DECADE, _read_lone_decade)
    read_units(text)
    text.sub(_POWER, lambda m: _power(m[1] or m[2]))
    text.sub(_ROOT, lambda m: f"{ordinal(int(m[1])) if m[1].isdecimal() else m[1] + 'th'}√")
    text.sub(_ORDINAL, lambda m: ordinal(int(m[1].replace(",", ""))))
    text.sub(_ERA, _read_era)
    text.sub(_EARLY_YEAR, lambda m: m[1] + year(int(m[2])))
    text.sub(_YEAR_WORD, lambda m: m[1] + year(int(m[2])))
    text.sub(_YEAR_PREFIX, lambda m: year(int(m[1])), 1)
    text.sub(_MODERN_YEAR, lambda m: year(int(m[1])))
    text.sub(_MAGNITUDE, lambda m: f"{decimal(m[1])} {_MAGNITUDES[m[2]]}")
    text.sub(_BY, " by ")
    text.sub(_MULTIPLE, lambda m: f"{decimal(m[1])} times")
    text.sub(_TRIPLE_RATIO, lambda m: " to ".join(cardinal(int(part)) for part in m.groups()))
    text.sub(_RATIO, lambda m: f"{cardinal(int(m[1]))} to {cardinal(int(m[2]))}")
    text.sub(_PLUS_SIGN, "plus ")
    text.sub(_TRAILING_PLUS, " plus")
    text.sub(_SCREEN_LINES, lambda m: f"{_pairs(m[1])} P")
    text.sub(_LETTER_DIGIT, " ")
    text.sub(_PLAIN, lambda m: plain_number(m.group()))


def plain_number(text: str) -> str:
    """A number without unit: long ones and those with a leading zero digit by digit."""
    if text.isdigit() and (len(text) >= LONG_DIGITS or (len(text) > 1 and text[0] == "0")):
        return digits(text)
    return decimal(text) if text[0] != "." else f"point {digits(text)}"


def _read_groups(match: re.Match[str]) -> str:
    """Digits, with a pause between groups."""
    return ", ".join(digits(run) for run in _DIGIT_RUN.findall(match.group()))


def _dotted(text: str) -> str:
    """Version numbers part by part; parts of an address (192) are read digit by digit."""
    parts = text.split(".")
    is_address = len(parts) == 4 and all(int(part) < 256 for part in parts)
    if is_address:
        return " dot ".join(digits(part) for part in parts)
    return " point ".join(plain_number(part) for part in parts)


def _exponent(text: str) -> str:
    value = int(text.translate(_SUPERSCRIPT_DIGITS))
    return ordinal(value) if value >= 0 else f"minus {ordinal(-value)}"


def _power(text: str) -> str:
    exponent = text.translate(_SUPERSCRIPT_DIGITS)
    special = {"2": " squared", "3": " cubed"}
    return special.get(exponent, f" to the power of {exponent.replace('-', 'minus ')}")


def _pairs(text: str) -> str:
    """1080 -> "ten eighty": heights of screens."""
    if len(text) == 4 and text[2] != "0":
        return f"{cardinal(int(text[:2]))} {cardinal(int(text[2:]))}"
    return (
        cardinal(int(text))
        if len(text) != 3
        else f"{cardinal(int(text[0]))} {cardinal(int(text[1:]))}"
    )


def _read_fractions(text: Tracked) -> None:
    text.sub(_VULGAR, lambda m: _mixed(m[1], *_VULGAR_PARTS[m[2]]))
    text.sub(_SEASON, _read_year_span)
    text.sub(_SCORE, _read_score)
    text.sub(_FRACTION, _read_fraction)


def _read_fraction(match: re.Match[str]) -> str:
    if match[1] is None and match.group() in _SPECIAL_SLASH:
        return _SPECIAL_SLASH[match.group()]
    top, bottom = int(match[2]), int(match[3])
    if bottom in _DENOMINATORS and top < bottom:
        return _mixed(match[1], top, bottom)
    whole = f"{cardinal(int(match[1]))} " if match[1] else ""
    return f"{whole}{cardinal(top)} over {cardinal(bottom)}"


def _read_score(match: re.Match[str]) -> str:
    """Read "4.5/5" and "8/10"; a fifth stays a fraction."""
    is_fifths = match[2] == "5" and match[1] in {"1", "2", "3", "4"}
    if is_fifths or float(match[1]) > int(match[2]):
        return match.group()
    return f"{decimal(match[1])} out of {cardinal(int(match[2]))}"


def _mixed(whole: str | None, top: int, bottom: int) -> str:
    """(1, 1, 2) -> "one and a half"."""
    if bottom == 2:
        part = "half"
    elif bottom == 4:
        part = "quarter"
    else:
        part = ordinal(bottom)
    plural = "halves" if bottom == 2 else f"{part}s"
    name = part if top == 1 else plural
    if whole is None:
        return f"{cardinal(top)} {name}"
    article = "a" if top == 1 else cardinal(top)
    return f"{cardinal(int(whole))} and {article} {name}"


def _read_spans(text: Tracked) -> None:
    """Turn the dash between two numbers into "to" (or "minus"), and read spans of years."""
    read_spaced_hyphens(text, " to ", "−")
    text.sub(_EQUATION_MINUS, " minus ")
    text.sub(_YEAR_SPAN, _read_year_span)
    text.sub(_RANGE, _read_range)
    read_ranges(text, " to ", "−")


def _read_range(match: re.Match[str]) -> str:
    """A hyphen between falling numbers of three digits joins a name: "Boeing 747-400"."""
    low, high = match[1], match["high"]
    if "-" in match.group() and low.isdecimal() and high.isdecimal() and int(low) > int(high) > 99:
        return f"{low} "
    return f"{low} to "


def _read_year_span(match: re.Match[str]) -> str:
    last = match[3]
    words = year(int(last)) if len(last) == 4 else plain_number(last)
    joint = "" if match[2] == "/" else "to "
    return f"{year(int(match[1]))} {joint}{words}"


def _read_century_decade(match: re.Match[str]) -> str:
    century, tens = cardinal(int(match[1])), int(match[2])
    if tens == 0:
        return "two thousands" if match[1] == "20" else f"{century} hundreds"
    return f"{century} {_DECADES.split()[tens]}"


def _read_lone_decade(match: re.Match[str]) -> str:
    """Read "the '90s", "his 30s", "the 830s"; a bare "30s" is half a minute."""
    before, hundreds, tens = match[1] or "", match[2], int(match[3] or match[4])
    if not hundreds and tens < 2:
        return match.group()
    century = f"{cardinal(int(hundreds) * 100)} " if hundreds else ""
    return before + century + _DECADES.split()[tens]


def _read_era(match: re.Match[str]) -> str:
    number, era = (match[1], match[2]) if match[1] else (match[4], match[3])
    words = year(int(number)) if len(number) == 4 else cardinal(int(number))
    letters = " ".join(era)
    return f"{words} {letters}" if match[1] else f"{letters} {words}"
