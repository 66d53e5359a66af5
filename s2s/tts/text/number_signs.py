"""Decides once, for all languages, which dash is the sign of a number. Pure.

A hyphen, an en dash or a minus in front of a number becomes "−" (U+2212), in front of the currency
if there is one. No rule for numbers looks at "−": it stands where it is until each language reads
what signs are left, so no rule can lose it.
"""

from __future__ import annotations

import re

from s2s.tts.text.tracked import Tracked

MINUS = "−"
"""The one sign that rules leave alone; why: docs/decisions/signs-of-numbers.md."""
CURRENCY_CHARS = "$¢£¤¥֏؋৲৳૱௹฿៛\u20a0-\u20cf﷼"
"""All of Unicode's category Sc but fullwidth ones; for a character class."""
CODES_TEXT = """
EUR USD GBP JPY CNY RMB CHF SEK NOK DKK PLN CZK HUF RON BGN TRY RUB UAH INR KRW BRL MXN ARS CLP COP
AUD CAD NZD HKD SGD TWD ZAR ILS AED SAR THB IDR PHP VND EGP NGN ISK BTC ETH
"""
CODES = tuple(CODES_TEXT.split())
"""ISO 4217 codes that are read; BTC and ETH stand in texts alike."""

_CODE = "|".join(CODES)
_CURRENCY = rf"(?:(?:US|CA|AU|NZ|HK|R|C|A|S)?[{CURRENCY_CHARS}]|(?:{_CODE})\b)"
_NUMBER_AHEAD = rf"(?=(?:{_CURRENCY} ?)?(?:[.,]?\d|[½⅓⅔¼¾⅕-⅞⅐⅑⅒∞√]))"
_OPENING = "\\s–—(\\[{\"'«»‹›‚<>=≤≥≈≠*×·÷/:;,|~`_（「『【《：；，。、！？…"
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_HAN_UNIT = "年月日号時时点分秒度元円万亿億个個人岁歳页頁章节楼层層階天周週米回番話巻"
"""After a number and one of these a dash is a range."""
_PLUS_MINUS = re.compile(rf"(?<![0-9A-Za-z_+])\+ ?/?[-–−] ?{_NUMBER_AHEAD}|\(\+/?[-–−]\)")
_DOT_TIMES = re.compile(r"(?<=\d) ?[·⋅∙] ?(?=\d)")
_AFTER_CURRENCY = re.compile(
    rf"(?<![0-9A-Za-z_$/])(?<!\d )({_CURRENCY} ?)[-–−] ?(?=\d)(?![\d.,]+ ?%)"
)
_HYPHEN_SIGN = re.compile(
    rf"(?:^|(?<=[{_OPENING}])(?<!\d[\"'])"
    rf"|(?<=[{_HAN}])(?<!\d[{_HAN_UNIT}])(?<!\d公里)(?<!\d公斤)"
    rf"(?<!\d小时)(?<!\d分钟))(?:-|(?<!\d )–){_NUMBER_AHEAD}"
    rf"|(?<=[:=(：,;] )[-–] ?{_NUMBER_AHEAD}",
)
_VARIABLE_MINUS = re.compile(
    r"(?<=\b[b-df-hj-np-tvwxz]) [-–] (?=\d|[a-z]\b|\()|(?<=[\d)]) [-–] (?=[b-df-hj-np-tvwxz]\b)"
)
_DASH_AND_SIGN = re.compile(r"(?<=\d)[-–][-−](?=\d)")
_COLD = re.compile(r"(?<=[^\W\d] )[-–] (?=\d+(?:[.,]\d+)? ?°)")
"""A spaced hyphen in front of a temperature is its sign: nobody has a dash there."""
_DIVIDED = re.compile(r"(?<=\d) ?: ?(?=\d+(?:[.,]\d+)? ?=)")
_LETTERS_MINUS = re.compile(r"(?<=\b[A-Za-z]) [-–] (?=[A-Za-z]\b)(?=.{1,12}[=<>≤≥])")
_MINUS_GAP = re.compile(rf"{MINUS} (?=\d)")


def mark_signs(text: Tracked) -> None:
    """Write the sign of every number as "−" or "±" in place."""
    text.sub(_DOT_TIMES, "×")
    text.sub(_DIVIDED, "÷")
    text.sub(_PLUS_MINUS, "±")
    if not any(char in "-–−" for char in text.text):
        return
    text.sub(_DASH_AND_SIGN, f"–{MINUS}")
    text.sub(_COLD, MINUS)
    text.sub(_AFTER_CURRENCY, lambda m: MINUS + m[1])
    text.sub(_HYPHEN_SIGN, MINUS)
    text.sub(_MINUS_GAP, MINUS)
    text.sub(_LETTERS_MINUS, f" {MINUS} ")
    text.sub(_VARIABLE_MINUS, f" {MINUS} ")
