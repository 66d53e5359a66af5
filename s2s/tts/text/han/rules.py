"""Numbers, dates and money in Chinese and Japanese, written in Han numerals. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from s2s.tts.text.currencies import CODES, SYMBOL, code_of
from s2s.tts.text.digit_words import DIGIT_WORDS
from s2s.tts.text.han.nouns import CURRENCIES, UNITS
from s2s.tts.text.han.numerals import by_digits, integer, plain, scaled
from s2s.tts.text.identifiers import Spelling, read_identifiers
from s2s.tts.text.names import SIGN_NAMES
from s2s.tts.text.romans import read_roman_signs, roman
from s2s.tts.text.sign_words import SIGN_WORDS
from s2s.tts.text.signs import read_signs
from s2s.tts.text.tracked import Tracked


@dataclass(frozen=True, slots=True)
class Grammar:
    """Where Chinese and Japanese differ."""

    percent: str
    """Format with {n}."""
    per_mille: str
    part: str
    """Between the lower and the upper number of a fraction."""
    mixed: str
    """Between a whole number and a fraction."""
    until: str
    ratio: str
    hour: str
    per: str
    """Between a unit and the unit it is per."""
    square: str
    cubic: str
    ordinal: str
    """Before a number after "#"."""
    version: str
    add: str
    subtract: str
    times_ten: str
    multiple: str
    minutes: str
    seconds: str
    cues: str
    """Pattern of words after which 16:10 is no time of day."""


GRAMMARS = {
    "zh": Grammar(
        percent="百分之{n}", per_mille="千分之{n}", part="分之", mixed="又", until="到",
        ratio="比", hour="点", per="每", square="平方", cubic="立方", ordinal="第",
        version="版本", add="加", subtract="减", times_ten="乘以十", multiple="倍", minutes="分",
        seconds="秒", cues="比分|比例|比率|宽高比|画面比|赔率|以",
    ),
    "ja": Grammar(
        percent="{n}パーセント", per_mille="{n}パーミル", part="分の", mixed="と", until="から",
        ratio="対", hour="時", per="毎", square="平方", cubic="立方", ordinal="第",
        version="バージョン", add="足す", subtract="引く", times_ten="かける十", multiple="倍",
        minutes="分", seconds="秒", cues="スコア|比率|割合|アスペクト比|比|縮尺",
    ),
}  # fmt: skip

_N = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\d.])\.\d+)"
_CODE = "|".join(CODES)
_SIGN = rf"(?:{SYMBOL}|(?:{_CODE})(?![A-Za-z]))"
_SCALE = r"([万亿億兆]|[kKMB](?![A-Za-z])|bn(?![A-Za-z]))?"
_SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "bn": 10**9}
_NEXT = r"(?=[−+±]?[$€£¥]?\d|[½⅓⅔¼¾])"
_ISO = re.compile(r"(?<![\w-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:T(?=\d)|(?![\d/-]))", re.ASCII)
_YEAR_SPAN = re.compile(r"(?<!\d)(\d{4})(年?) ?[-–—~～〜至到] ?(?=\d{4} ?年)")
_YEAR = re.compile(r"(?<![\d.,])(\d{4})(?= ?年(?!前|后|後|间|間|以上))")
_SEASON = re.compile(r"(?<![\d/])((?:19|20)\d\d)/(\d\d)(?![\d/])")
_CLOCK = re.compile(
    r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?:Z|\+\d\d:?\d\d)?(?!\d|:)"
)
_PHONE = re.compile(
    r"(?<![\w.,-])(?:\d{3,4}-\d{3,4}-\d{4}|0\d{2,3}-\d{7,8}|\d{10,15})(?![\d-]|[.,]\d)", re.ASCII
)
_CHAIN = re.compile(r"(?<![\w.,])\d+(?:-\d+){2,}(?!\w)", re.ASCII)
_VERSION = re.compile(
    r"(?<![A-Za-z0-9.])(?:[vV]\.? ?(\d+(?:\.\d+)*)|(\d+(?:\.\d+){2,}))(?![A-Za-z0-9])"
)
_UNIT_END = (
    r"(?:[%‰°]|°[CF]|km|cm|mm|kg|ml|GB|MB"
    r"|[年月日号時时点分秒度元円万亿億个個人岁歳页頁章节楼层層階天周週米克$€£¥])"
)
_RANGE_AFTER_UNIT = re.compile(rf"(?<=\d)( ?{_UNIT_END}) ?[-–—~～〜] ?{_NEXT}")
_RANGE = re.compile(rf"(?<=[\d½¼¾]) ?[-–—~～〜] ?{_NEXT}")
_LATIN_NUMBER = re.compile(r"(?<=[A-Za-z])-(?=\d)")
_MONEY_BEFORE = re.compile(rf"(?<![A-Za-z/])({_SIGN}) ?({_N})(?![\d.,]*(?:\d| ?%)) ?{_SCALE}")
_MONEY_AFTER = re.compile(rf"({_N}) ?{_SCALE} ?({_SIGN})")
_PERCENT_RANGE = re.compile(rf"({_N})(到)(?=[−±+]?({_N}) ?%)({_N}) ?%")
_PERCENT = re.compile(rf"({_N}) ?([%‰])")
_VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5),
    "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8),
    "⅞": (7, 8), "⅐": (1, 7), "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip
_VULGAR_SIGN = re.compile(rf"(?:(\d{{1,9}}) ?)?([{''.join(_VULGAR)}])")
_FRACTION = re.compile(r"(?<![\d/.])(?:(\d{1,9}) )?(\d{1,4})/(\d{1,4})(?![\d/]|\.\d)")
_RATIO = re.compile(r"(?<![\d:.])(\d{1,6}) ?: ?(\d{1,6})(?: ?: ?(\d{1,6}))?(?![\d:])")
_SCIENTIFIC = re.compile(rf"(?<![A-Za-z\d.])({_N})[eE]([+−-]?\d{{1,3}})(?![A-Za-z\d])")
_TIMES_TEN = re.compile(r"(?<=\d) ?[×x*] ?10(?=[\^⁻⁺⁰¹²³⁴-⁹])")
_POWER = re.compile(r"(?<=[\w)])(?:\^\(?([+−-]?\w+)\)?|([⁻⁺]?[⁰¹²³⁴-⁹ⁿ]+))", re.ASCII)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789−+n")
_MULTIPLE = re.compile(rf"(?<![A-Za-z\d.])({_N})[x×](?![A-Za-z\d])")
_MAGNITUDE = re.compile(rf"(?<![A-Za-z\d.])(?![248]K)({_N})([kKM]|bn|B)(?![A-Za-z\d])")
_NUMBER_SIGN = re.compile(r"(?<!\w)#(?=\d)|№ ?(?=\d)|(?<![A-Za-z])[Nn]o\. ?(?=\d)")
_ANGLE = re.compile(r"(\d{1,3}(?:\.\d+)?) ?° ?(\d{1,2})['′] ?(?:(\d{1,2}(?:\.\d+)?)[\"″])?")
_PAIR = re.compile(r"(?<![\d.,:第])2(?=[个個位只隻条條张張本次天件块塊杯瓶家名种種年])")
_FAHRENHEIT = re.compile(rf"([−+±]?)({_N}) ?°F")
"""Japanese names the scale before the number, and so before its sign."""
_ADD = re.compile(r"(?<=[A-Za-z0-9)²³]) ?\+ ?(?=[\w(√])")
_TRAILING_PLUS = re.compile(r"(?<=\d)\+(?![A-Za-z\d+])")
_SUBTRACT = re.compile(
    r"(?:(?<=[0-9)²³])|(?<=\b[a-z])) ?− ?(?=[A-Za-z0-9(√])|(?<=[\d)²³]) - (?=[\w(])"
    r"|(?<=\d)-(?=\d+ ?=)"
)
_ROMAN_ORDINAL = re.compile(r"(?<=第)([IVXLC]+)(?![A-Za-z])")
_ROMAN = re.compile(
    r"(?<=[\u3040-\u30ff\u4e00-\u9fff] )([IVX]{2,})(?![A-Za-z0-9])"
    r"|(?<=[\u3040-\u30ff\u4e00-\u9fff])([IVX]{2,})(?![A-Za-z0-9-]|设计|系统)"
)
_ROMAN_BEFORE = re.compile(r"(?<![A-Za-z0-9])([IVX]+)(?= ?(?:世纪|世紀|世|型糖尿病|期临床|期))")
_PLACEHOLDERS = frozenset({"XX", "XXX"})
_PLAIN = re.compile(_N)


def read_han(text: Tracked, language: str) -> None:
    """Rewrite numbers and signs of `text` in place; `language` is one of `GRAMMARS`."""
    _reader(language).read(text)


class _Reader:
    """The rules of one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._grammar = GRAMMARS[language]
        self._signs = SIGN_WORDS[language]
        self._spelling = Spelling(
            DIGIT_WORDS[language], SIGN_NAMES[language], _PHONE_PLUS[language], joint="",
            pause="，",
            point="点",
        )  # fmt: skip
        self._units = UNITS[language]
        units = "|".join(map(re.escape, sorted(self._units, key=len, reverse=True)))
        self._unit = re.compile(
            rf"(?<![A-Za-z\d.])({_N}) ?({units})(²|³|\^2|\^3|[23](?![\d年月日]))?(?:/({units})(²"
            rf"|³)?)?(?![A-Za-z/])"
        )
        self._cue = re.compile(rf"(?:{self._grammar.cues})[^。，:;\d]{{0,8}}\Z")

    def read(self, text: Tracked) -> None:
        """Replace every number and sign."""
        if self._language == "ja":
            text.sub(_TRIANGLE, "−")
        read_roman_signs(text, re.compile(r"(?!)"))
        text.sub(_ROMAN_ORDINAL, self._roman)
        text.sub(_ROMAN_BEFORE, self._roman)
        text.sub(_ROMAN, self._roman)
        if any(char.isdigit() or char in _VULGAR for char in text.text):
            self._read_dates(text)
            self._read_amounts(text)
            self._read_plain(text)
        else:
            self._read_sums(text)
        text.sub(_CURRENCY_ALONE, lambda m: CURRENCIES[self._language][code_of(m.group())])
        read_signs(text, self._signs, spaced=False)

    def _read_dates(self, text: Tracked) -> None:
        grammar = self._grammar
        text.sub(_RATIO, lambda m: self._ratio(m, cued=True))
        text.sub(_ISO, self._date)
        text.sub(_PHONE, lambda m: by_digits(m.group()))
        read_identifiers(text, self._spelling)
        text.sub(_CHAIN, lambda m: self._spelling.groups(m.group()))
        text.sub(_YEAR_SPAN, lambda m: f"{self._year(m[1])}{m[2]}{grammar.until}")
        text.sub(_YEAR, lambda m: self._year(m[1]))
        text.sub(_SEASON, lambda m: f"{self._year(m[1])} {self._year(m[2])}")
        text.sub(_CLOCK_SPAN, lambda m: m.group()[: -len(m[1])] + grammar.until)
        text.sub(_CLOCK, self._clock)
        text.sub(_VERSION, self._version)

    def _read_amounts(self, text: Tracked) -> None:
        grammar = self._grammar
        text.sub(_SUBTRACT, grammar.subtract)
        if self._language == "ja":
            text.sub(_BOUND, lambda m: m[2] + _BOUND_WORDS[m[1]])
        text.sub(_SCIENTIFIC, self._scientific)
        text.sub(_LATIN_NUMBER, " ")
        text.sub(_RANGE_AFTER_UNIT, lambda m: m[1] + grammar.until)
        text.sub(_RANGE, grammar.until)
        text.sub(_NUMBER_SIGN, grammar.ordinal)
        text.sub(_MONEY_BEFORE, lambda m: self._money(m[2], m[3], m[1]))
        text.sub(_MONEY_AFTER, lambda m: self._money(m[1], m[2], m[3]))
        if self._language == "zh":
            text.sub(_PERCENT_RANGE, lambda m: f"百分之{self._plain(m[1])}到{self._plain(m[4])}")
        text.sub(_PERCENT, self._percent)
        text.sub(_ANGLE, self._angle)
        text.sub(_VULGAR_SIGN, lambda m: self._part(m[1], *_VULGAR[m[2]]))
        text.sub(_FRACTION, lambda m: self._part(m[1], int(m[2]), int(m[3])))
        text.sub(_RATIO, lambda m: self._ratio(m, cued=False))
        if self._language == "ja":
            text.sub(_FAHRENHEIT, lambda m: f"華氏{m[1]}{self._plain(m[2])}度")
        text.sub(self._unit, self._read_unit)
        text.sub(_TIMES_TEN, self._signs.times + "10")
        text.sub(_MAGNITUDE, lambda m: scaled(m[1], _SCALES[m[2]], self._language))
        text.sub(_MULTIPLE, lambda m: self._plain(m[1]) + grammar.multiple)

    def _read_plain(self, text: Tracked) -> None:
        if self._language == "zh":
            text.sub(_PAIR, "两")
        self._read_sums(text)
        text.sub(_PLAIN, lambda m: self._plain(m.group()))

    def _read_sums(self, text: Tracked) -> None:
        text.sub(_POWER, lambda m: self._power((m[1] or m[2]).translate(_SUPERSCRIPTS)))
        text.sub(_ADD, self._grammar.add)
        text.sub(_TRAILING_PLUS, _PHONE_PLUS[self._language])
        text.sub(_SUBTRACT, self._grammar.subtract)

    def _plain(self, text: str) -> str:
        return plain(text, self._language)

    def _roman(self, match: re.Match[str]) -> str:
        letters = match[1] or match[match.lastindex or 1]
        value = roman(letters)
        if value is None or (
            letters in _PLACEHOLDERS and "世" not in match.string[match.end() :][:2]
        ):
            return match.group()
        return str(value)

    def _year(self, text: str) -> str:
        return by_digits(text) if self._language == "zh" else integer(int(text), self._language)

    def _date(self, match: re.Match[str]) -> str:
        month, day = int(match[3]), int(match[4])
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return match.group()
        words = integer(month, self._language), integer(day, self._language)
        return f"{self._year(match[1])}年{words[0]}月{words[1]}日"

    def _clock(self, match: re.Match[str]) -> str:
        words = integer(int(match[1]), self._language) + self._grammar.hour
        minute, second = int(match[2]), int(match[3] or 0)
        if minute or second:
            words += self._sixtieths(minute) + "分"
        return words + (self._sixtieths(second) + "秒" if second else "")

    def _sixtieths(self, number: int) -> str:
        zero = "零" if 0 < number < 10 and self._language == "zh" else ""
        return zero + integer(number, self._language)

    def _version(self, match: re.Match[str]) -> str:
        parts = (match[1] or match[2]).split(".")
        words = "点".join(self._plain(part) for part in parts)
        return (self._grammar.version if match[1] else "") + words

    def _money(self, number: str, scale: str | None, sign: str) -> str:
        name = CURRENCIES[self._language][code_of(sign)]
        if sign == "JPY" and self._language == "zh":
            name = "日元"
        if scale in _SCALES:
            return scaled(number, _SCALES[scale], self._language) + name
        return f"{self._plain(number)}{scale or ''}{name}"

    def _percent(self, match: re.Match[str]) -> str:
        form = self._grammar.percent if match[2] == "%" else self._grammar.per_mille
        return form.format(n=self._plain(match[1]))

    def _angle(self, match: re.Match[str]) -> str:
        words = f"{self._plain(match[1])}度{self._plain(match[2])}分"
        return words + (f"{self._plain(match[3])}秒" if match[3] else "")

    def _part(self, whole: str | None, top: int, bottom: int) -> str:
        part = integer(bottom, self._language) + self._grammar.part + integer(top, self._language)
        return f"{self._plain(whole)}{self._grammar.mixed}{part}" if whole else part

    def _ratio(self, match: re.Match[str], *, cued: bool) -> str:
        if cued and not self._cue.search(match.string[max(0, match.start() - 30) : match.start()]):
            return match.group()
        return self._grammar.ratio.join(self._plain(part) for part in match.groups() if part)

    def _read_unit(self, match: re.Match[str]) -> str:
        number, sign, power, per, per_power = match.groups()
        grammar = self._grammar
        if power in {"2", "3"} and sign not in {"km", "m", "cm", "mm"}:
            return match.group()
        words = self._plain(number)
        noun = self._named(sign, power)
        if not per:
            return words + noun
        if self._language == "ja" and per in {"h", "s", "min"}:
            return f"{words}{noun}毎{ {'h': '時', 's': '秒', 'min': '分'}[per] }"
        return f"{words}{noun}{grammar.per}{self._named(per, per_power)}"

    def _named(self, sign: str, power: str | None) -> str:
        prefix = {"2": self._grammar.square, "3": self._grammar.cubic}
        return (prefix[power.strip("^").translate(_SUPERSCRIPTS)] if power else "") + self._units[
            sign
        ]

    def _scientific(self, match: re.Match[str]) -> str:
        exponent = self._power(match[2].replace("-", "−"))
        return f"{self._plain(match[1])}{self._grammar.times_ten}{exponent}"

    def _power(self, exponent: str) -> str:
        exponent = exponent.replace("-", "−")
        if exponent == "2":
            return self._signs.squared
        if exponent == "3":
            return self._signs.cubed
        sign = self._signs.minus if exponent[0] == "−" else ""
        digits = exponent.lstrip("+−")
        return self._signs.power.format(
            n=sign + (self._plain(digits) if digits.isdecimal() else digits)
        )


_TRIANGLE = re.compile("[△▲](?=[0-9])")
"""The minus of Japanese accounts."""
_PHONE_PLUS = {"zh": "加", "ja": "プラス"}
_BOUND = re.compile(
    rf"(<=|>=|[<>≤≥]) ?([−+]?{_N} ?(?:%|°[CF]?|km|cm|mm|kg|g|m|円|ドル|人|個|歳|年|時間|分|秒)?)"
)
_BOUND_WORDS = {"<": "未満", ">": "超", "≤": "以下", "<=": "以下", "≥": "以上", ">=": "以上"}
"""Japanese says the bound after the number."""
_CLOCK_SPAN = re.compile(r"(?<=\d:\d\d)( ?[-–—~～〜] ?)(?=\d{1,2}:\d\d)")
_CURRENCY_ALONE = re.compile(rf"{_SIGN}")


@cache
def _reader(language: str) -> _Reader:
    return _Reader(language)
