"""Reads English amounts of money. Pure."""

from __future__ import annotations

import re

from s2s.tts.text.english.numerals import NUMBER, cardinal, decimal
from s2s.tts.text.tracked import Tracked

_N = rf"(?:\d+,\d\d(?![\d,])|{NUMBER})"
_DOLLAR = ("dollar", "dollars", "cent", "cents")
_CURRENCIES = {
    "$": _DOLLAR, "US$": ("U S dollar", "U S dollars", "cent", "cents"),
    "C$": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
    "CA$": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
    "A$": ("Australian dollar", "Australian dollars", "cent", "cents"),
    "AU$": ("Australian dollar", "Australian dollars", "cent", "cents"),
    "NZ$": ("New Zealand dollar", "New Zealand dollars", "cent", "cents"),
    "HK$": ("Hong Kong dollar", "Hong Kong dollars", "cent", "cents"),
    "R$": ("real", "reais", "centavo", "centavos"), "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"), "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"), "₩": ("won", "won", "jeon", "jeon"),
    "₽": ("ruble", "rubles", "kopek", "kopeks"), "₿": ("bitcoin", "bitcoins", "", ""),
    "₺": ("lira", "lira", "kurush", "kurush"), "₪": ("shekel", "shekels", "agora", "agorot"),
    "₫": ("dong", "dong", "", ""), "฿": ("baht", "baht", "satang", "satang"),
    "₴": ("hryvnia", "hryvnias", "kopiyka", "kopiykas"),
    "USD": ("U S dollar", "U S dollars", "cent", "cents"),
    "EUR": ("euro", "euros", "cent", "cents"), "GBP": ("pound", "pounds", "penny", "pence"),
    "JPY": ("yen", "yen", "sen", "sen"), "CNY": ("yuan", "yuan", "fen", "fen"),
    "RMB": ("yuan", "yuan", "fen", "fen"), "INR": ("rupee", "rupees", "paisa", "paise"),
    "CHF": ("Swiss franc", "Swiss francs", "centime", "centimes"),
    "CAD": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
    "AUD": ("Australian dollar", "Australian dollars", "cent", "cents"),
    "BTC": ("bitcoin", "bitcoins", "", ""),
    "MXN": ("Mexican peso", "Mexican pesos", "centavo", "centavos"),
    "SEK": ("krona", "kronor", "ore", "ore"), "KRW": ("won", "won", "jeon", "jeon"),
}  # fmt: skip
_SCALES = {
    "k": "thousand", "K": "thousand", "m": "million", "M": "million", "mn": "million",
    "mm": "million", "MM": "million", "bn": "billion", "b": "billion", "B": "billion",
    "tn": "trillion", "T": "trillion",
}  # fmt: skip
_SHORT_SCALES = "|".join(sorted(_SCALES, key=len, reverse=True))
_SCALE = rf"(?: ?(hundred|thousand|million|billion|trillion)\b|({_SHORT_SCALES})(?![A-Za-z]))?"
_SIGN = "|".join(
    sorted(map(re.escape, (c for c in _CURRENCIES if not c.isalpha())), key=len, reverse=True)
)
_CODE = "|".join(code for code in _CURRENCIES if code.isalpha())
_NOUNS = "bill|note|coin|gift|ticket|fee|fine|discount|prize|voucher|budget"
_NOUN = rf"(?P<noun>(?= (?:{_NOUNS})\b)|(?=-a-))"
_BEFORE = re.compile(
    rf"(?<![\w])(-)?(?:({_SIGN})|({_CODE}) ?)(-)? ?({_N})(?: ?[-–] ?(?:{_SIGN})?({_N}))?"
    rf"{_SCALE}{_NOUN}?"
)
_AFTER = re.compile(
    rf"(?<![\w.])(-)?({_N})(?: ?[-–] ?({_N}))?{_SCALE} ?({_SIGN}|(?:{_CODE})(?!\w))"
)
_DECIMAL_COMMA = re.compile(r"\d+,\d\d")
_CENTS = re.compile(rf"(?<![\w.])({_N}) ?¢")


def read_money(text: Tracked) -> None:
    """Replace amounts of money in `text` in place."""
    if not any(char.isdigit() for char in text.text):
        return
    text.sub(_BEFORE, _read_before)
    text.sub(_AFTER, _read_after)
    text.sub(_CENTS, lambda m: f"{decimal(m[1])} {'cent' if m[1] == '1' else 'cents'}")


def _read_before(match: re.Match[str]) -> str:
    sign = "minus " if match[1] or match[4] else ""
    currency = _CURRENCIES[match[2] or match[3]]
    scale = match[7] or _SCALES.get(match[8] or "", "")
    singular = match["noun"] is not None
    words = sign + _amount(match[5], match[6], scale, currency, singular=singular)
    return words + (" " if match.string[match.end() : match.end() + 1].isalpha() else "")


def _read_after(match: re.Match[str]) -> str:
    scale = match[4] or _SCALES.get(match[5] or "", "")
    sign = "minus " if match[1] else ""
    return sign + _amount(match[2], match[3], scale, _CURRENCIES[match[6]], singular=False)


def _amount(
    number: str, until: str | None, scale: str, names: tuple[str, str, str, str], *, singular: bool
) -> str:
    """Put an amount into words: "5.50" as "five dollars and fifty cents"."""
    one, many, cent, cents = names
    if _DECIMAL_COMMA.fullmatch(number):
        number = number.replace(",", ".")
    if until is not None:
        first = decimal(number)
        return f"{first} to {decimal(until)} {f'{scale} ' if scale else ''}{many}"
    whole, _, fraction = number.replace(",", "").partition(".")
    if not fraction[2:].strip("0"):
        fraction = fraction[:2]  # "$5.500"
    if scale or (fraction and (len(fraction) != 2 or not cent)):
        return f"{decimal(number)} {f'{scale} ' if scale else ''}{one if singular else many}"
    units, parts = int(whole or 0), int(fraction or 0)
    part_words = f"{cardinal(parts)} {cent if parts == 1 else cents}" if parts else ""
    if not units and parts:
        return part_words
    unit_words = f"{cardinal(units)} {one if units == 1 or singular else many}"
    return f"{unit_words} and {part_words}" if parts else unit_words
