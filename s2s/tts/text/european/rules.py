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
_NUMBER_SIGN = re.compile(r"(?<!\w)#(?=\d)|(?<!\w)[Nn]\.?[º°]\.? ?(?=\d)|№ ?(?=\d)")
_SPANISH_PHONE = re.compile(
    r"(?<![\w.,])(?<!\d )[6-9]\d{2} \d{3} \d{3}(?![\w]|[.,]\d| ?[€$£%]| \d)"
)
_PAGE = re.compile(r"(?<!\w)(S|p|pp|pág|pag)\. ?(?=\d)")
_PAGES = {"de": "Seite", "fr": "page", "es": "página", "it": "pagina", "pt": "página"}
_SHORT_DECADE = re.compile(r"(?<!\w)'(?=\d\d\b)")
_PER_HUNDRED = re.compile(r"(?<=[^\W\d_])/(?=\d)")
_FALLING = re.compile(r"(?<![\w.,−-])(\d{1,2})[-–](\d{1,2})(?![\w.,-])")
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
        if words.language == "es":
            text.sub(_SPANISH_PHONE, lambda m: self._spelling.groups(m.group()))
        read_identifiers(text, self._spelling)
        text.sub(_PAGE, f"{_PAGES[words.language]} ")
        text.sub(_SHORT_DECADE, "")
        text.sub(_CHAIN, lambda m: self._spelling.groups(m.group()))
        text.sub(_VERSION, self._version)
        text.sub(_NUMBER_SIGN, f"{self._signs.number} ")
        read_times(text, words, self._signs.until)
        text.sub(_ANGLE, self._angle)
        text.sub(_FALLING, self._score)
        read_ranges(text, f" {self._signs.until} ", "−")
        text.sub(_PER_HUNDRED, f" {self._words.grammar.per} ")
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

    def _score(self, match: re.Match[str]) -> str:
        """ "2-1" is a score; "1-2" may be a range as well and is read as one."""
        if int(match[1]) <= int(match[2]) or match.string[match.end() :].lstrip()[:1] == "=":
            return match.group()
        return f"{match[1]} {self._words.grammar.ratio} {match[2]}"

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
        after = match.string[match.end() : match.end() + 1]
        return " ".join(parts) + (" " if after.isalnum() else "")


@cache
def _reader(language: str) -> _Reader:
    return _Reader(language)


@cache
def _abbreviation(language: str) -> re.Pattern[str]:
    words = sorted(map(re.escape, GRAMMARS[language].abbreviations), key=len, reverse=True)
    return re.compile(rf"(?<![\w.])({'|'.join(words)})(?!\w)")
