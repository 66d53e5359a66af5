"""German, French, Spanish, Italian and Portuguese: puts the rules in their order. Pure.

Number words come from num2words; without it digits stay, for the voice to read.
"""

from __future__ import annotations

import re
from functools import cache

from s2s.tts.text.digit_words import DIGIT_WORDS
from s2s.tts.text.european.amounts import Amounts
from s2s.tts.text.european.dates import read_dates, read_times
from s2s.tts.text.european.grammar import GRAMMARS
from s2s.tts.text.european.ordinals import read_ordinals, read_romans
from s2s.tts.text.european.words import NUMBER, Words, words_of
from s2s.tts.text.identifiers import Spelling, read_identifiers
from s2s.tts.text.names import SIGN_NAMES
from s2s.tts.text.number_ranges import read_ranges
from s2s.tts.text.sign_words import SIGN_WORDS
from s2s.tts.text.signs import read_signs
from s2s.tts.text.tracked import Tracked

_CHAIN = re.compile(r"(?<![\w.,])\d+(?:-\d+){2,}(?![\w])")
_VERSION = re.compile(r"(?<![\w.])(?:[vV]\.? ?(\d+(?:\.\d+)*)|(\d+(?:\.\d+){2,}))(?![\w]|\.\d)")
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+")
_NUMBER_SIGN = re.compile(r"(?<!\w)#(?=\d)|(?<!\w)[Nn][º°]\.? ?(?=\d)|№ ?(?=\d)")
_LETTER_DIGIT = re.compile(r"(?<=[^\W\d_])-?(?=\d)|(?<=\d)(?=[^\W\d_])")
_ANGLE = re.compile(r"(\d{1,3}(?:[.,]\d+)?) ?° ?(\d{1,2})['′] ?(?:(\d{1,2}(?:[.,]\d+)?)[\"″])?")
_TRAILING_PLUS = re.compile(r"(?<=\d)\+(?![\w+=]| ?\d)")
_PLAIN = re.compile(NUMBER)


def read_european(text: Tracked, language: str) -> None:
    """Rewrite numbers, abbreviations and signs of `text` in place, in one of `GRAMMARS`."""
    grammar = GRAMMARS[language]
    text.sub(_abbreviation(language), lambda m: grammar.abbreviations[m[1]])
    reader = _reader(language)
    if words_of(1, language) is not None:
        reader.read(text)
    reader.read_alone(text)
    read_signs(text, SIGN_WORDS[language])


class _Reader:
    """The rules of one language, compiled once."""

    def __init__(self, language: str) -> None:
        self._words = Words(language, GRAMMARS[language])
        self._amounts = Amounts(self._words)
        self._signs = SIGN_WORDS[language]
        self._spelling = Spelling(
            DIGIT_WORDS[language], SIGN_NAMES[language], self._signs.plus,
            point=self._words.grammar.point,
        )  # fmt: skip

    def read(self, text: Tracked) -> None:
        """Replace every number in `text` in place."""
        words = self._words
        read_romans(text, words)
        if not any(char.isdigit() or char in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒" for char in text.text):
            return
        self._amounts.read_ratios(text)
        read_dates(text, words)
        read_identifiers(text, self._spelling)
        text.sub(_CHAIN, lambda m: self._spelling.groups(m.group()))
        text.sub(_VERSION, self._version)
        text.sub(_NUMBER_SIGN, f"{self._signs.number} ")
        read_times(text, words, self._signs.until)
        text.sub(_ANGLE, self._angle)
        read_ranges(text, f" {self._signs.until} ", "−")
        self._amounts.read(text)
        read_ordinals(text, words)
        text.sub(_TRAILING_PLUS, f" {self._signs.plus}")
        text.sub(_LETTER_DIGIT, " ")
        text.sub(_PLAIN, lambda m: words.number(m.group()))

    def read_alone(self, text: Tracked) -> None:
        """Signs of currencies without a number."""
        self._amounts.read_alone(text)

    def _version(self, match: re.Match[str]) -> str:
        if match[2] and _GROUPED.fullmatch(match[2]):
            return match.group()
        parts = (match[1] or match[2]).split(".")
        words = f" {self._words.grammar.dot} ".join(self._words.number(part) for part in parts)
        return f"{self._words.grammar.version} {words}" if match[1] else words

    def _angle(self, match: re.Match[str]) -> str:
        words, grammar = self._words, self._words.grammar
        nouns = (grammar.units["°"], grammar.minutes, grammar.seconds)
        parts = [
            words.counted(int(number), one, many)
            if number.isdecimal()
            else f"{words.number(number)} {many}"
            for number, (one, many, _) in zip(match.groups(""), nouns, strict=True)
            if number
        ]
        return " ".join(parts)


@cache
def _reader(language: str) -> _Reader:
    return _Reader(language)


@cache
def _abbreviation(language: str) -> re.Pattern[str]:
    words = sorted(map(re.escape, GRAMMARS[language].abbreviations), key=len, reverse=True)
    return re.compile(rf"(?<![\w.])({'|'.join(words)})(?!\w)")
