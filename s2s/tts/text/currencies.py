"""Signs of currencies and the codes they stand for, in any language. Pure."""

from __future__ import annotations

import re
import unicodedata

from s2s.tts.text.number_signs import CODES, CURRENCY_CHARS

SYMBOLS = {
    "€": "EUR", "$": "$", "US$": "USD", "CA$": "CAD", "C$": "CAD", "AU$": "AUD", "A$": "AUD",
    "NZ$": "NZD", "HK$": "HKD", "S$": "SGD", "NT$": "TWD", "MX$": "MXN", "R$": "BRL",
    "£": "GBP", "¥": "JPY", "CN¥": "CNY", "₹": "INR", "₨": "INR", "₩": "KRW", "₽": "RUB",
    "₴": "UAH", "₺": "TRY", "₪": "ILS", "₫": "VND", "฿": "THB", "₱": "PHP", "₦": "NGN",
    "₿": "BTC", "¢": "¢", "zł": "PLN", "Kč": "CZK", "RMB": "CNY",
}  # fmt: skip
"""Sign -> ISO code; "$" and "¢" are of no country."""

_WORDLIKE = [sign for sign in SYMBOLS if sign[-1].isalpha()]
_SYMBOLIC = [sign for sign in SYMBOLS if not sign[-1].isalpha()]


def _any_of(signs: list[str]) -> str:
    return "|".join(map(re.escape, sorted(signs, key=len, reverse=True)))


SYMBOL = rf"(?:{_any_of(_SYMBOLIC)}|(?:{_any_of(_WORDLIKE)})(?!\w))"
"""Pattern of a sign; those made of letters are whole words."""

BEFORE_ONLY_AFTER = frozenset({"TRY", "COP"})
"""English words: a currency only where they follow the number."""


def symbol_name(char: str) -> str:
    """What a rare currency sign is called in Unicode: "₳" -> "austral"."""
    name = unicodedata.name(char, "").lower()
    return name.removesuffix(" sign").removesuffix(" symbol") or "currency"


def code_of(sign: str) -> str:
    """The ISO code of a sign or code; a rare sign is its own."""
    return SYMBOLS.get(sign, sign)


__all__ = [
    "BEFORE_ONLY_AFTER",
    "CODES",
    "CURRENCY_CHARS",
    "SYMBOL",
    "SYMBOLS",
    "code_of",
    "symbol_name",
]
