"""Languages without rules of their own: no sign, digit or currency stays bare. Pure.

Number words come from num2words where it knows the language, else digits are read one by one,
and where these are not known either they stay, for the voice to read.
"""

from __future__ import annotations

import re
from functools import cache

from s2s.tts.text.currencies import CODES, SYMBOL, code_of
from s2s.tts.text.digit_words import DIGIT_WORDS, PLAIN_DIGITS
from s2s.tts.text.european.words import words_of
from s2s.tts.text.identifiers import Spelling, read_identifiers
from s2s.tts.text.names import SIGN_NAMES
from s2s.tts.text.number_ranges import read_ranges
from s2s.tts.text.other_nouns import DECIMAL_POINT, MONTHS, currencies, units
from s2s.tts.text.plain_forms import plain_digits
from s2s.tts.text.sign_words import DEFAULT, SIGN_WORDS
from s2s.tts.text.signs import read_signs
from s2s.tts.text.tracked import Tracked

_N = r"(?:\d{1,3}(?:[.,' ]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
_CODE = "|".join(CODES)
_MONEY_BEFORE = re.compile(
    rf"({SYMBOL}|(?<![A-Za-z])(?:{_CODE})(?![A-Za-z])) ?({_N})(?![\d.,]*(?:\d| ?%))"
)
_MONEY_ALONE = re.compile(rf"({SYMBOL}|(?<=[^\W] )(?:{_CODE})(?![A-Za-z]))")
_PERCENT = re.compile(rf"({_N}) ?([%‰])")
_ISO = re.compile(r"(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])")
_DATE = re.compile(r"(?<![\d.,/-])(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?![\d/-]|\.\d)")
_PRICE_DASH = re.compile(r"(?<=\d)[.,](?:--|[-–—])(?!\d)")
_RATIO = re.compile(r"(?<![\d:.])(\d{1,4}):([1-9]\d{0,3}|0)(?![\d:])(?<!:[0-5]\d)")
_VERSION = re.compile(r"(?<![\w.])([vV]\.? ?)?(\d{1,9}(?:\.\d{1,9}){2,})(?![\w]|\.\d)")
_SPEED = re.compile(rf"({_N}) ?km/h(?![\w/])")
_BOUND = re.compile(rf"(<=|>=|[<>≤≥]) ?([−+]?{_N} ?%?)")
_BOUND_WORDS = {"<": "미만", ">": "초과", "≤": "이하", "<=": "이하", "≥": "이상", ">=": "이상"}
_ORDINALS = {
    "nl": re.compile(r"(?<![\w.,])(\d{1,6})(?:ste|de|e)\b"),
    "ru": re.compile(r"(?<![\w.,])(\d{1,6})-(?:й|я|е|го|м|му|ая|ый|ое|ой|х|ые|ых)\b"),
}
_RUSSIAN_ENDING = re.compile("(?:ый|ой|ий)\\Z")
_BETWEEN = re.compile(r"(?<=\d)[:/](?=\d)|(?<=\d)\.(?=\d+\.)|(?<=\.\d)\.(?=\d)|(?<=\d)-(?=\d)")
_POWER = re.compile(r"(?<=[\w)])(?:\^\(?([+−-]?\w+)\)?|([⁻⁺]?[⁰¹²³⁴-⁹ⁿ]+))")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789−+n")
_VULGAR = re.compile(r"(\d*)([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])")
_VULGAR_PARTS = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5",
    "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
_FRACTION = re.compile(r"(?<![\d/])(\d{1,4})/(\d{1,4})(?![\d/])")
_LETTER_DIGIT = re.compile(r"(?<=[A-Za-z])-?(?=\d)|(?<=\d)(?=[A-Za-z])|(?<=[^\W\d_])-(?=\d)")
_GROUPS = re.compile(r"\d{1,3}(?:[.,' ]\d{3})+")
_ALPHABETIC = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
_PLAIN = re.compile(_N)
_APART = re.compile(rf"(?<![\w/:-])(?<!\d[.,]){_N}(?![\w/:-])")
"""A number that is no part of a code such as "5a-12", which a voice reads in its own way."""
_BETWEEN_NUMBERS = re.compile(r"(?<![^\W\d]\d)(?<=\d)[:/-](?=\d+(?!\w))")
_EVERY_DIGIT = frozenset({"ko", "ru", "nl"})
"""Languages in which codes are taken apart as well."""


def read_other(text: Tracked, language: str) -> None:
    """Rewrite numbers and signs of `text` in place in a language without rules."""
    _reader(language).read(text)


class _Reader:
    """Numbers of one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._signs = SIGN_WORDS.get(language, DEFAULT)
        self._digits = DIGIT_WORDS.get(language, PLAIN_DIGITS)
        self._knows = language in DIGIT_WORDS or words_of(1, language) is not None
        self._spelling = Spelling(
            self._digits, SIGN_NAMES.get(language, SIGN_NAMES["en"]), self._signs.plus,
            point=self._signs.point,
        )  # fmt: skip
        self._currencies = currencies(language)
        self._units = units(language)
        names = "|".join(map(re.escape, sorted(self._units, key=len, reverse=True)))
        self._unit = re.compile(rf"({_N}) ?({names})(²|³)?(?![\w/])") if names else None
        self._after = re.compile(rf"({_N}) ?({SYMBOL}|(?:{_CODE})(?![A-Za-z]))")

    def read(self, text: Tracked) -> None:
        """Replace numbers and signs."""
        if self._knows:
            plain_digits(text)
            self._read_numbers(text)
        text.sub(_MONEY_ALONE, lambda m: f" {self._money(m[1])}")
        read_signs(text, self._signs)

    def _read_numbers(self, text: Tracked) -> None:
        if not any(char.isdigit() or char in _VULGAR_PARTS for char in text.text):
            return
        text.sub(_ISO, lambda m: self._date(m[1], m[2], m[3]))
        text.sub(_DATE, lambda m: self._date(m[4], m[3], m[1]))
        text.sub(_PRICE_DASH, "")
        read_identifiers(text, self._spelling)
        if self._language == "ko":
            text.sub(_BOUND, lambda m: f"{m[2]} {_BOUND_WORDS[m[1]]}")
            text.sub(_SPEED, lambda m: f"시속 {m[1]} 킬로미터")
            text.sub(_RATIO, lambda m: f"{m[1]} 대 {m[2]}")
        text.sub(_VERSION, self._version)
        if self._language in _ORDINALS:
            text.sub(_ORDINALS[self._language], lambda m: self._ordinal(m))
        until = f" {self._signs.until} "
        read_ranges(text, until, "−")
        text.sub(_MONEY_BEFORE, lambda m: f"{self._number(m[2])} {self._money(m[1])}")
        text.sub(self._after, lambda m: f"{self._number(m[1])} {self._money(m[2])}")
        if self._unit is not None:
            text.sub(self._unit, self._read_unit)
        text.sub(_PERCENT, self._percent)
        text.sub(_VULGAR, lambda m: f"{m[1]} {_VULGAR_PARTS[m[2]]}")
        text.sub(
            _FRACTION, lambda m: f"{self._number(m[1])} {self._signs.over} {self._number(m[2])}"
        )
        text.sub(_POWER, lambda m: f" {self._power((m[1] or m[2]).translate(_SUPERSCRIPTS))}")
        if self._language in _EVERY_DIGIT:
            text.sub(_LETTER_DIGIT, " ")
            text.sub(_BETWEEN, " ")
            if not _SPACELESS.match(self._language):
                text.sub(_ALPHABETIC, " ")
            text.sub(_PLAIN, lambda m: self._number(m.group()))
        else:
            text.sub(_BETWEEN_NUMBERS, " ")
            text.sub(_APART, lambda m: self._number(m.group()))

    def _date(self, year: str, month: str, day: str) -> str:
        """With the name of the month where it is known, else number by number."""
        if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
            return " ".join(self._number(part) for part in (year, month, day))
        if self._language == "ko":
            return f"{year}년 {int(month)}월 {int(day)}일"
        months = MONTHS.get(self._language)
        name = months.split()[int(month) - 1] if months else self._number(str(int(month)))
        number = words_of(int(day), "ru", "ordinal") if self._language == "ru" else None
        said = _RUSSIAN_ENDING.sub("ое", number) if number else self._number(str(int(day)))
        return f"{said.replace('третое', 'третье')} {name} {self._number(year)}"

    def _version(self, match: re.Match[str]) -> str:
        """ "2.10.1" part by part; "1.000.000" is a number."""
        if _GROUPS.fullmatch(match[2]) and not match[1]:
            return match.group()
        dot = SIGN_NAMES.get(self._language, SIGN_NAMES["en"]).dot
        head = f"{match[1].strip()} " if match[1] else ""
        return head + f" {dot} ".join(self._number(part) for part in match[2].split("."))

    def _ordinal(self, match: re.Match[str]) -> str:
        return words_of(int(match[1]), self._language, "ordinal") or self._number(match[1])

    def _read_unit(self, match: re.Match[str]) -> str:
        power = {"²": f" {self._signs.squared}", "³": f" {self._signs.cubed}"}.get(match[3], "")
        return f"{self._number(match[1])} {self._units[match[2]]}{power}"

    def _money(self, sign: str) -> str:
        return self._currencies.get(code_of(sign), " ".join(code_of(sign)))

    def _percent(self, match: re.Match[str]) -> str:
        name = self._signs.percent if match[2] == "%" else self._signs.per_mille
        number = self._number(match[1])
        return f"{name} {number}" if self._language == "tr" else f"{number} {name}"

    def _power(self, exponent: str) -> str:
        if exponent in {"2", "3"}:
            return self._signs.squared if exponent == "2" else self._signs.cubed
        sign = f"{self._signs.minus} " if exponent[0] in "−-" else ""
        digits = exponent.lstrip("+−-")
        return self._signs.power.format(
            n=sign + (self._number(digits) if digits.isdecimal() else digits)
        )

    def _number(self, text: str) -> str:
        """A number with separators of thousands and decimals as most languages write them."""
        whole, fraction = self._split(text)
        if (len(whole) > 1 and whole[0] == "0" and not fraction) or len(whole) > 12:
            words = " ".join(self._digits[ord(char) - 48] for char in whole)
        else:
            known = words_of(int(whole or "0"), self._language)
            words = known or " ".join(self._digits[ord(char) - 48] for char in whole)
        if not fraction:
            return words
        digits = " ".join(self._digits[ord(char) - 48] for char in fraction)
        return f"{words} {self._signs.point} {digits}"

    def _split(self, text: str) -> tuple[str, str]:
        text = text.replace("'", "").replace(" ", "")
        point, comma = text.rfind("."), text.rfind(",")
        if point >= 0 and comma >= 0:
            mark = max(point, comma)
            return re.sub("[.,]", "", text[:mark]), text[mark + 1 :]
        mark = max(point, comma)
        if mark < 0:
            return text, ""
        decimal = "." if self._language in DECIMAL_POINT else ","
        grouped = _GROUPS.fullmatch(text) and text[0] != "0"
        if grouped and (text.count(text[mark]) > 1 or text[mark] != decimal):
            return re.sub("[.,]", "", text), ""
        return re.sub("[.,]", "", text[:mark]), text[mark + 1 :]


_SPACELESS = re.compile("ko|th|lo|my|km")
"""Languages that write numbers and nouns together."""


@cache
def _reader(language: str) -> _Reader:
    return _Reader(language)
