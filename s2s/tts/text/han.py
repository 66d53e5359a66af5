"""Numbers, dates and money in Chinese and Japanese, written in Han numerals. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from s2s.tts.text.tracked import Tracked

_DIGITS = "零一二三四五六七八九"
_SMALL_UNITS = ("", "十", "百", "千")


@dataclass(frozen=True, slots=True)
class Grammar:
    """Where Chinese and Japanese differ."""

    large_units: tuple[str, ...]
    fills_zeros: bool
    """Chinese says the gap in 105: 一百零五; Japanese does not: 百五."""
    year_by_digits: bool
    percent: str
    """Format with {n}."""
    part: str
    """Between the lower and the upper number of a fraction."""
    minus: str
    until: str
    hour: str
    dollar: str
    euro: str
    pound: str
    yen: str
    units: dict[str, str]


GRAMMARS = {
    "zh": Grammar(
        large_units=("", "万", "亿", "万亿"),
        fills_zeros=True,
        year_by_digits=True,
        percent="百分之{n}",
        part="分之",
        minus="负",
        until="到",
        hour="点",
        dollar="美元",
        euro="欧元",
        pound="英镑",
        yen="元",
        units={
            "km/h": "公里每小时",
            "km": "公里",
            "cm": "厘米",
            "mm": "毫米",
            "kg": "公斤",
            "GB": "吉字节",
            "MB": "兆字节",
        },
    ),
    "ja": Grammar(
        large_units=("", "万", "億", "兆"),
        fills_zeros=False,
        year_by_digits=False,
        percent="{n}パーセント",
        part="分の",
        minus="マイナス",
        until="から",
        hour="時",
        dollar="ドル",
        euro="ユーロ",
        pound="ポンド",
        yen="円",
        units={
            "km/h": "キロメートル毎時",
            "km": "キロメートル",
            "cm": "センチメートル",
            "mm": "ミリメートル",
            "kg": "キログラム",
            "GB": "ギガバイト",
            "MB": "メガバイト",
        },
    ),
}

_N = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_ISO = re.compile(r"(?<![\w-])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\d-])")
_YEAR = re.compile(r"(?<!\d)(\d{4})(?= ?年)")
_CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?!\d|:)")
_PHONE = re.compile(r"(?<![\d-])(?:\d{3,4}-\d{3,4}-\d{4}|0\d{2,3}-\d{7,8}|\d{10,})(?![\d-])")
_SIGNS = {"$": "dollar", "US$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
_MONEY_BEFORE = re.compile(rf"(US\$|[$€£¥]) ?({_N})([万亿億]?)")
_MONEY_AFTER = re.compile(rf"({_N})([万亿億]?) ?(US\$|[$€£¥])")
_PERCENT = re.compile(rf"({_N}) ?%")
_FRACTION = re.compile(r"(?<![\d/])(\d{1,3})/(\d{1,3})(?![\d/])")
_DEGREES = re.compile(rf"({_N}) ?(?:°C|℃)")
_RANGE = re.compile(r"(?<=[\d%年月日号]) ?[-–—~～〜] ?(?=\d)")
_NEGATIVE = re.compile(r"(?<![\w)])-(?=\d)", re.ASCII)
_PAIR = re.compile(r"(?<![\d.,])2(?=[个個位只隻条條张張本次天件块塊杯瓶家名种種年])")
_LATIN_NUMBER = re.compile(r"(?<=[A-Za-z])-(?=\d)")
_UNIT = re.compile(rf"({_N}) ?(km/h|km|cm|mm|kg|GB|MB)(?![A-Za-z/])")
_PLAIN = re.compile(_N)


def read_han(text: Tracked, language: str) -> None:
    """Rewrite the numbers of `text` in place; `language` is one of `GRAMMARS`."""
    if not any(char.isdigit() for char in text.text):
        return
    grammar = GRAMMARS[language]
    text.sub(_PHONE, lambda m: by_digits(m.group()))
    text.sub(_ISO, lambda m: _date(m, grammar))
    text.sub(_YEAR, lambda m: _year(m[1], grammar))
    text.sub(_CLOCK, lambda m: _clock(m, grammar))
    text.sub(_LATIN_NUMBER, " ")
    text.sub(_RANGE, grammar.until)
    text.sub(_NEGATIVE, grammar.minus)
    text.sub(_MONEY_BEFORE, lambda m: _money(m[2], m[3], m[1], grammar))
    text.sub(_MONEY_AFTER, lambda m: _money(m[1], m[2], m[3], grammar))
    text.sub(_PERCENT, lambda m: grammar.percent.format(n=_plain(m[1], grammar)))
    text.sub(_FRACTION, lambda m: _plain(m[2], grammar) + grammar.part + _plain(m[1], grammar))
    text.sub(_DEGREES, lambda m: _plain(m[1], grammar) + ("摄氏度" if language == "zh" else "度"))
    text.sub(_UNIT, lambda m: _plain(m[1], grammar) + grammar.units[m[2]])
    if language == "zh":
        text.sub(_PAIR, "两")
    text.sub(_PLAIN, lambda m: _plain(m.group(), grammar))


def by_digits(text: str) -> str:
    """Read "110" as "一一零"; other characters are left out."""
    return "".join(_DIGITS[int(char)] for char in text if char in "0123456789")


def integer(number: int, language: str) -> str:
    """12345 -> "一万二千三百四十五"."""
    return _integer(number, GRAMMARS[language])


def _integer(number: int, grammar: Grammar) -> str:
    if number == 0:
        return _DIGITS[0]
    groups: list[int] = []
    while number:
        number, group = divmod(number, 10_000)
        groups.append(group)
    if len(groups) > len(grammar.large_units):
        raise ValueError(f"number with {len(groups)} groups of four digits is too large")
    words = ""
    for place in reversed(range(len(groups))):
        group = groups[place]
        if not group:
            continue
        if words and grammar.fills_zeros and (group < 1000 or not groups[place + 1]):
            words += _DIGITS[0]
        words += _below_ten_thousand(group, grammar, leading=place > 0) + grammar.large_units[place]
    return words[1:] if grammar.fills_zeros and words.startswith("一十") else words


def _below_ten_thousand(number: int, grammar: Grammar, *, leading: bool) -> str:
    words = ""
    gap = False
    for place in (3, 2, 1, 0):
        digit = number // 10**place % 10
        if not digit:
            gap = bool(words)
            continue
        if gap and grammar.fills_zeros:
            words += _DIGITS[0]
        gap = False
        silent_one = (
            digit == 1 and place > 0 and not grammar.fills_zeros and not (leading and place == 3)
        )
        words += ("" if silent_one else _DIGITS[digit]) + _SMALL_UNITS[place]
    return words


def _plain(text: str, grammar: Grammar) -> str:
    whole, _, fraction = text.replace(",", "").partition(".")
    if len(whole) > 16 or (len(whole) > 1 and whole[0] == "0" and not fraction):
        return by_digits(whole)
    words = _integer(int(whole), grammar)
    return f"{words}点{by_digits(fraction)}" if fraction else words


def _year(text: str, grammar: Grammar) -> str:
    return by_digits(text) if grammar.year_by_digits else _integer(int(text), grammar)


def _date(match: re.Match[str], grammar: Grammar) -> str:
    month, day = _plain(match[2], grammar), _plain(match[3], grammar)
    return f"{_year(match[1], grammar)}年{month}月{day}日"


def _clock(match: re.Match[str], grammar: Grammar) -> str:
    words = _plain(str(int(match[1])), grammar) + grammar.hour
    minute, second = int(match[2]), int(match[3] or 0)
    if minute or second:
        words += _sixtieths(minute, grammar) + "分"
    return words + (_sixtieths(second, grammar) + "秒" if second else "")


def _sixtieths(number: int, grammar: Grammar) -> str:
    zero = _DIGITS[0] if 0 < number < 10 and grammar.fills_zeros else ""
    return zero + _integer(number, grammar)


def _money(number: str, scale: str, sign: str, grammar: Grammar) -> str:
    names = {
        "dollar": grammar.dollar,
        "euro": grammar.euro,
        "pound": grammar.pound,
        "yen": grammar.yen,
    }
    return f"{_plain(number, grammar)}{scale}{names[_SIGNS[sign]]}"
