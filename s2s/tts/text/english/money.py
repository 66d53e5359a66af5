"""Reads English amounts of money. Pure."""

from __future__ import annotations

import re

from s2s.tts.text.currencies import BEFORE_ONLY_AFTER
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
    "SEK": ("Swedish krona", "Swedish kronor", "ore", "ore"), "KRW": ("won", "won", "jeon", "jeon"),
    "NOK": ("Norwegian krone", "Norwegian kroner", "ore", "ore"),
    "DKK": ("Danish krone", "Danish kroner", "ore", "ore"),
    "ISK": ("Icelandic krona", "Icelandic kronur", "", ""),
    "PLN": ("zloty", "zlotys", "grosz", "groszy"), "zł": ("zloty", "zlotys", "grosz", "groszy"),
    "CZK": ("Czech koruna", "Czech korunas", "", ""), "Kč": ("Czech koruna", "Czech korunas", "",
    ""),
    "HUF": ("forint", "forints", "", ""), "RON": ("leu", "lei", "ban", "bani"),
    "BGN": ("lev", "leva", "stotinka", "stotinki"), "RUB": ("ruble", "rubles", "kopek", "kopeks"),
    "TRY": ("lira", "lira", "kurush", "kurush"),
    "UAH": ("hryvnia", "hryvnias", "kopiyka", "kopiykas"), "BRL": ("real", "reais", "centavo",
    "centavos"),
    "ARS": ("Argentine peso", "Argentine pesos", "centavo", "centavos"),
    "CLP": ("Chilean peso", "Chilean pesos", "", ""),
    "COP": ("Colombian peso", "Colombian pesos", "centavo", "centavos"),
    "NZD": ("New Zealand dollar", "New Zealand dollars", "cent", "cents"),
    "HKD": ("Hong Kong dollar", "Hong Kong dollars", "cent", "cents"),
    "SGD": ("Singapore dollar", "Singapore dollars", "cent", "cents"),
    "TWD": ("Taiwan dollar", "Taiwan dollars", "", ""), "ZAR": ("rand", "rand", "cent", "cents"),
    "ILS": ("shekel", "shekels", "agora", "agorot"), "AED": ("dirham", "dirhams", "fils", "fils"),
    "SAR": ("riyal", "riyals", "halala", "halalas"), "THB": ("baht", "baht", "satang", "satang"),
    "IDR": ("rupiah", "rupiah", "", ""), "PHP": ("Philippine peso", "Philippine pesos",
    "centavo", "centavos"),
    "VND": ("dong", "dong", "", ""), "EGP": ("Egyptian pound", "Egyptian pounds", "piaster",
    "piasters"),
    "NGN": ("naira", "naira", "kobo", "kobo"), "₦": ("naira", "naira", "kobo", "kobo"),
    "₱": ("Philippine peso", "Philippine pesos", "centavo", "centavos"),
    "S$": ("Singapore dollar", "Singapore dollars", "cent", "cents"),
    "NT$": ("Taiwan dollar", "Taiwan dollars", "", ""), "ETH": ("ether", "ether", "", ""),
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
_CODE_BEFORE = "|".join(
    code for code in _CURRENCIES if code.isalpha() and code not in BEFORE_ONLY_AFTER
)
_NOUNS = "bill|note|coin|gift|ticket|fee|fine|discount|prize|voucher|budget"
_NOUN = rf"(?P<noun>(?= (?:{_NOUNS})\b)|(?=-a-))"
_PERCENT = r"[\d.,]*(?: ?%|\d)"
"""After a code and a number: "BTC 3%" is no amount of money."""
_BEFORE = re.compile(
    rf"(?<![\w/])(?:({_SIGN})|({_CODE_BEFORE}) ?) ?({_N})(?!{_PERCENT})(?: ?[-–—]"
    rf" ?(?:{_SIGN})?({_N}))?"
    rf"{_SCALE}{_NOUN}?"
)
_AFTER = re.compile(rf"(?<![\w.])({_N})(?: ?[-–—] ?({_N}))?{_SCALE} ?({_SIGN}|(?:{_CODE})(?!\w))")
_SPAN = re.compile(rf"(?<=\d)( ?(?:{_SIGN})) ?[-–—] ?(?=[−+]?\d)")
_DECIMAL_COMMA = re.compile(r"\d+,\d\d")
_CENTS = re.compile(rf"(?<![\w.])({_N}) ?¢")


def read_money(text: Tracked) -> None:
    """Replace amounts of money in `text` in place."""
    if not any(char.isdigit() for char in text.text):
        return
    text.sub(_SPAN, lambda m: f"{m[1]} to ")
    text.sub(_BEFORE, _read_before)
    text.sub(_AFTER, _read_after)
    text.sub(_CENTS, lambda m: f"{decimal(m[1])} {'cent' if m[1] == '1' else 'cents'}")


def _read_before(match: re.Match[str]) -> str:
    currency = _CURRENCIES[match[1] or match[2]]
    scale = match[5] or _SCALES.get(match[6] or "", "")
    words = _amount(match[3], match[4], scale, currency, singular=match["noun"] is not None)
    return words + (" " if match.string[match.end() : match.end() + 1].isalpha() else "")


def _read_after(match: re.Match[str]) -> str:
    scale = match[3] or _SCALES.get(match[4] or "", "")
    return _amount(match[1], match[2], scale, _CURRENCIES[match[5]], singular=False)


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
