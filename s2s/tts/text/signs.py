"""Reads what signs are left after the numbers, so that none is lost. Any language. Pure."""

from __future__ import annotations

import re

from s2s.tts.text.currencies import symbol_name
from s2s.tts.text.number_signs import CURRENCY_CHARS, MINUS
from s2s.tts.text.sign_words import SignWords
from s2s.tts.text.tracked import Tracked

GREEK_TEXT = """
α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu
ξ xi ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega Γ gamma Δ delta Θ theta Λ lambda
Ξ xi Σ sigma Φ phi Ψ psi Ω omega
"""
_GREEK_WORDS = GREEK_TEXT.split()
GREEK: dict[str, str] = dict(zip(_GREEK_WORDS[::2], _GREEK_WORDS[1::2], strict=True))
_GREEK_LETTER = re.compile(rf"(?<![\u0370-\u03ff])[{''.join(GREEK)}π](?![\u0370-\u03ff])")
_COMPARED = re.compile(r"(?<![\w<>=-])([<>])(=?) ?(?=[\w−±])|(?<=\w) ?([<>])(=?) ?(?=[\w−±])")
NUMBER_SIGN = re.compile("[−±]")
_OPERATORS = re.compile(r"!=|=/=|<=|>=|={2,3}")
_ABOUT = re.compile(r"(?<![\w~])~ ?(?=[\w−])")
_SUM_MINUS = re.compile(r"(?<=[\w)²³⁴]) ?− ?(?=[\w(√])")
_SECTIONS = re.compile("§§+")
_RATED = re.compile(r"(?<=[^\W\d_])/(?=[^\W\d_])")
_BETWEEN_WORDS = re.compile(r"(?<=\w)–(?=[\w−])")


def read_signs(text: Tracked, words: SignWords, *, spaced: bool = True) -> None:
    """Replace signs in `text` in place by words.

    Args:
        text: its numbers are words already.
        words: of its language.
        spaced: whether the language puts spaces between words.
    """
    gap = " " if spaced else ""
    text.bind(NUMBER_SIGN)
    names = _names(words)
    text.sub(
        _OPERATORS,
        lambda m: f" {_operator(m.group(), words)} " if spaced else _operator(m.group(), words),
    )
    text.sub(_COMPARED, lambda m: gap + _compared(m, words) + gap)
    text.sub(_SECTIONS, "§")
    text.sub(_BETWEEN_WORDS, f"{gap}{words.until}{gap}")
    if spaced:
        text.sub(_SUM_MINUS, f" {words.minus} ")
    text.sub(_ABOUT, words.about + gap)
    signs = re.compile(f" ?([{''.join(map(re.escape, names))}]) ?")
    text.sub(signs, lambda m: with_gaps(m, names[m[1]]) if spaced else names[m[1]])
    text.sub(
        _GREEK_LETTER, lambda m: f"{gap}{words.pi if m.group() == 'π' else GREEK[m.group()]}{gap}"
    )
    text.sub(_CURRENCY, lambda m: f"{gap}{symbol_name(m.group())}{gap}")
    text.sub(_RATED, " ")


def with_gaps(match: re.Match[str], words: str) -> str:
    """Spaces around a sign in words, but none after the bracket or quote that it stands in."""
    before = match.string[match.start() - 1 : match.start()]
    opened = before in _OPENERS and not match.group().startswith(" ")
    return f"{words} " if opened else f" {words} "


_OPENERS = frozenset("(\"'«»„“‘‚[¿¡‹›")
_CURRENCY = re.compile(f"[{CURRENCY_CHARS}]")


def _names(words: SignWords) -> dict[str, str]:
    return {
        MINUS: words.minus, "+": words.plus, "±": words.plus_minus, "∓": words.plus_minus,
        "×": words.times, "÷": words.divided, "=": words.equals, "≠": words.unequal,
        "≈": words.about, "≤": words.at_most, "≥": words.at_least, "√": words.root,
        "∛": words.cube_root, "∞": words.infinity, "°": words.degrees, "%": words.percent,
        "‰": words.per_mille, "∕": words.over, "&": words.and_, "@": words.at,
        "§": words.section, "№": words.number, "²": words.squared, "³": words.cubed,
        "∑": words.sum, "∫": words.integral,
    }  # fmt: skip


def _operator(sign: str, words: SignWords) -> str:
    if sign in {"!=", "=/="}:
        return words.unequal
    return {"<=": words.at_most, ">=": words.at_least}.get(sign, words.equals)


def _compared(match: re.Match[str], words: SignWords) -> str:
    sign, equal = match[1] or match[3], match[2] or match[4]
    if equal:
        return words.at_most if sign == "<" else words.at_least
    return words.less if sign == "<" else words.more
