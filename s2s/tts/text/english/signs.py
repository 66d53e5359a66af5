"""Reads signs of sums, Greek letters and other signs in English. Pure."""

from __future__ import annotations

import re

from s2s.tts.text.currencies import CURRENCY_CHARS, symbol_name
from s2s.tts.text.signs import NUMBER_SIGN, with_gaps
from s2s.tts.text.tracked import Tracked

_GREEK_TEXT = """
α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu
ξ xi π pi ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega Γ gamma Δ delta Θ theta Λ
lambda Ξ xi Π pi Σ sigma Φ phi Ψ psi Ω omega
"""
_GREEK = _GREEK_TEXT.split()
_SIGNS = dict(zip(_GREEK[::2], _GREEK[1::2], strict=True)) | {
    "×": "times", "÷": "divided by", "±": "plus or minus", "√": "the square root of",
    "∞": "infinity", "≠": "is not equal to", "≤": "is at most", "≥": "is at least",
    "≈": "is about", "≡": "is identical to", "∑": "the sum of", "∫": "the integral of",
    "∂": "partial", "∆": "delta", "∇": "nabla", "∈": "in", "→": "to", "⇒": "implies",
    "↔": "if and only if", "⇔": "if and only if", "←": "from", "⟶": "to", "©": "copyright",
    "§": "section", "&": "and", "@": "at", "°": "degrees", "∅": "the empty set", "∪": "union",
    "∩": "intersection", "∀": "for all", "∃": "there exists", "∝": "is proportional to",
    "µ": "micro", "%": "percent", "€": "euros", "£": "pounds", "$": "dollars", "¥": "yen",
    "₹": "rupees", "∕": "over", "+": "plus", "=": "equals",
    "−": "minus", "∓": "minus or plus", "∛": "the cube root of", "‰": "per mille", "¢": "cents",
    "≅": "is about", "∏": "the product of", "∉": "not in", "⊂": "in", "⊆": "in", "∧": "and",
    "∨": "or", "¬": "not", "№": "number",
}  # fmt: skip
_SIGN_WORD = re.compile(f" ?([{''.join(map(re.escape, _SIGNS))}]) ?")
_RARE_CURRENCY = re.compile(f"[{CURRENCY_CHARS}]")
_LONE_GREEK = frozenset(_GREEK[::2])
_OPERATORS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r" ?(?:!=|=/=|<>) ?"), " is not equal to "),
    (re.compile(r" ?(?:<-+>|<=+>) ?"), " to and from "),
    (re.compile(r" ?(?:-+>|=+>) ?"), " to "),
    (re.compile(r"(?<!\w) ?(?:<=|≤) ?(?=\d)"), " at most "),
    (re.compile(r"(?<!\w) ?(?:>=|≥) ?(?=\d)"), " at least "),
    (re.compile(r" ?<= ?"), " is at most "),
    (re.compile(r" ?>= ?"), " is at least "),
    (re.compile(r" ?={2,3} ?"), " equals "),
    (re.compile(r"(?<=[\w)]) < (?=[\w(−])"), " is less than "),
    (re.compile(r"(?<=[\w)]) > (?=[\w(−])"), " is greater than "),
    (re.compile(r"(?<=\d)<(?=[\d−])"), " is less than "),
    (re.compile(r"(?<=\d)>(?=[\d−])"), " is greater than "),
    (re.compile(r"(?:^|(?<=[\s(]))< ?(?=\.?\d)"), "less than "),
    (re.compile(r"(?:^|(?<=[\s(]))> ?(?=\.?\d)"), "more than "),
    (re.compile(r"(?:^|(?<=[\s(]))~ ?(?=[\d$€£.])|(?:^|(?<=\())≈ ?(?=\d)"), "about "),
    (re.compile(r"(?<=[\w)]) \* (?=[\w(])|(?<=\d)\*(?=\d)"), " times "),
    (re.compile(r"(?<=\d)\*\*(?=\d)"), " to the power of "),
    (re.compile(r"(?:(?<=[\d)])|(?<=\b[A-Za-z])) / (?=[\d(]|[A-Za-z]\b)"), " over "),
    (re.compile(r"(?<=[\w.]) / (?=\w)"), ", "),
    (re.compile(r"(?<=\d)!(?= ?[=+*/-])"), " factorial"),
    (re.compile(r"(?<=\b[A-MO-Z])/(?=[A-Z]\b)"), " "),
    (re.compile(r"(?<=[²³⁴)]) - (?=[\w(])"), " minus "),
    (re.compile(r"(?:^|(?<=[\s(=]))-(?=[a-z]\b)"), "minus "),
    (re.compile(r"(?<=\d) ?[x×] ?(?=\d[\d.,]* ?=)"), " times "),
    (re.compile(r"(?<![\w/])@(?=[A-Za-z_])"), "at "),
    (re.compile(r"(?<![\w&])#(?=[A-Za-z])"), "hashtag "),
    (re.compile(r"(?<=[a-z)])\+(?!\w)"), " plus"),
)
_NTH_ROOT = re.compile(r"\b(\w+(?:-\w+)?)√")
_WORD_SLASH = re.compile(r"(?<=[^\W\d_])/(?=[^\W\d_])")


def read_operators(text: Tracked) -> None:
    """Read signs of several characters and signs before numbers, while those are digits."""
    for pattern, words in _OPERATORS:
        text.sub(pattern, words)


def read_signs(text: Tracked) -> None:
    """Read what single signs are left; runs after the numbers were read."""
    text.bind(NUMBER_SIGN)
    text.sub(_WORD_SLASH, " slash ")
    text.sub(_NTH_ROOT, lambda m: f"the {m[1]} root of ")
    text.sub(_SIGN_WORD, _read_sign)
    text.sub(_RARE_CURRENCY, lambda m: f" {symbol_name(m.group())} ")


def _read_sign(match: re.Match[str]) -> str:
    sign = match[1]
    if sign in _LONE_GREEK:
        around = (
            match.string[max(0, match.start(1) - 1) : match.start(1)]
            + match.string[match.end(1) : match.end(1) + 1]
        )
        if any("\u0370" <= char <= "\u03ff" for char in around):
            return match.group()  # a Greek word
    return with_gaps(match, _SIGNS[sign])
