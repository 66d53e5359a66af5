"""Numbers, dates and money in German, French, Spanish, Italian and Portuguese. Pure.

Number words come from num2words; without it digits stay, for the voice to read.
"""

from __future__ import annotations

import logging
import re
from functools import cache, lru_cache

from s2s.tts.text.european_grammar import GRAMMARS, Currency
from s2s.tts.text.tracked import Tracked

log = logging.getLogger(__name__)

_N = r"(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:[.' ]\d{3})+(?!\d)(?:,\d+)?|\d+(?:[.,]\d+)?)"
_SIGN = r"US\$|R\$|[€$£¥]|(?:EUR|USD|GBP|JPY)(?!\w)"
_PHONE = re.compile(
    r"(?<![\w.,])(?<!\d )(?:(?:\+\d{1,3}|0\d{1,4})(?:[ /-]\d{2,8}){1,5}"
    r"|\d{2,3} \d{3} \d{2} \d{2})(?!\d|[.,]\d)"
)
_ISO = re.compile(r"(?<![\w-])(\d{4})-(\d{2})-(\d{2})(?![\w-])")
_NUMERIC = re.compile(r"(?<![\w./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?![\w/-])")
_CLOCK = re.compile(
    r"(?<![\w:.])([01]?\d|2[0-4])(?::|h|H)([0-5]\d)(?: ?(?:Uhr|h)\b)?(?![\w:])"
    r"|(?<![\w:.])([01]?\d|2[0-4]) ?(?:h|Uhr)(?!\w)"
)
_MONEY_BEFORE = re.compile(rf"(?<!\w)({_SIGN}) ?({_N})(?![\w])")
_MONEY_AFTER = re.compile(rf"(?<![\w.,])({_N}) ?({_SIGN})")
_MONEY_ALONE = re.compile(r"R\$|[€£$¥]")
_PERCENT = re.compile(rf"(?<![\w.,])({_N}) ?%")
_RANGE = re.compile(r"(?<=\d) ?[–—] ?(?=\d)|(?<=\d)-(?=\d)(?!\d+-)")
_NEGATIVE = re.compile(r"(?<![\w.)-])-(?=\d)")
_ORDINAL = re.compile(r"(?<![\w.,])(\d+) ?(?:(er|ère|re|e|ème)\b|([ºª°](?!C)|\.º|\.ª))")
_GERMAN_YEAR = re.compile(
    r"\b((?:im|in|seit|von|bis|ab|um|Jahr|Jahre|Jahres|anno) )(1[1-9]\d\d)\b(?![.,]\d)"
)
_SIGN_WORD = re.compile(r"(?<!\S)([&+=])(?!\S)")
_PLAIN = re.compile(_N)
_CODES = {"EUR": "€", "US$": "$", "USD": "$", "GBP": "£", "JPY": "¥"}


@lru_cache(maxsize=1024)
def _say(number: int, language: str, kind: str) -> str | None:
    """Words from num2words; None when it is not installed or does not know the language."""
    try:
        from num2words import num2words
    except ImportError:
        log.warning(
            "num2words is not installed: numbers in %r stay digits. Install it with "
            "`pip install num2words`.",
            language,
        )
        return None
    try:
        return str(num2words(number, lang=language, to=kind)).replace(",", "")
    except (NotImplementedError, OverflowError):
        return None


def read_european(text: Tracked, language: str) -> None:
    """Rewrite numbers, abbreviations and signs of `text` in place, in one of `GRAMMARS`."""
    grammar = GRAMMARS[language]
    text.sub(_abbreviation(language), lambda m: grammar.abbreviations[m[1]])
    if _say(1, language, "cardinal") is not None and any(char.isdigit() for char in text.text):
        _read_numbers(text, language)
    text.sub(_SIGN_WORD, lambda m: f" {grammar.signs[m[1]]} ")


def _read_numbers(text: Tracked, language: str) -> None:
    reader = _Reader(language)
    text.sub(_ISO, lambda m: reader.date(m, m[3], m[2], m[1]))
    text.sub(_NUMERIC, lambda m: reader.date(m, m[1], m[3], m[4]))
    text.sub(reader.written_date, reader.read_written_date)
    text.sub(_CLOCK, reader.clock)
    text.sub(_PHONE, reader.phone)
    text.sub(_MONEY_BEFORE, lambda m: reader.money(m[2], m[1]))
    text.sub(_MONEY_AFTER, lambda m: reader.money(m[1], m[2]))
    text.sub(reader.unit, reader.read_unit)
    text.sub(_PERCENT, lambda m: f"{reader.number(m[1])} {reader.grammar.percent}")
    text.sub(_RANGE, f" {reader.grammar.until} ")
    text.sub(_NEGATIVE, f"{reader.grammar.minus} ")
    text.sub(_ORDINAL, reader.ordinal)
    if language == "de":
        text.sub(_GERMAN_YEAR, lambda m: m[1] + reader.year(m[2]))
    text.sub(_PLAIN, lambda m: reader.number(m.group()))
    text.sub(_MONEY_ALONE, lambda m: reader.currency(m.group())[1])


def read_cardinals(text: Tracked, language: str) -> None:
    """Rewrite plain whole numbers in any other language that num2words knows."""
    if not any(char in "0123456789" for char in text.text) or _say(1, language, "cardinal") is None:
        return
    text.sub(
        re.compile(r"(?<![\w.,:/-])\d{1,12}(?![\w:/-]|[.,]\d)", re.ASCII),
        lambda m: _say(int(m.group()), language, "cardinal") or m.group(),
    )


class _Reader:
    """Words of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.grammar = GRAMMARS[language]
        self.written_date = _written_date(language)
        self.unit = _unit(language)

    def _words(self, number: int, kind: str = "cardinal") -> str:
        return _say(number, self.language, kind) or str(number)

    def number(self, text: str) -> str:
        """Read "1.234,5". A comma is decimal; a point is, unless three digits follow it."""
        whole, fraction = _split_number(text)
        has_zero = not fraction and len(whole) > 1 and whole[0] == "0"
        if has_zero or len(whole) > 12:
            return " ".join(self._words(int(digit)) for digit in whole)
        words = self._words(int(whole))
        return f"{words} {self.grammar.point} {self._fraction(fraction)}" if fraction else words

    def _fraction(self, digits: str) -> str:
        """German reads digits; the others read up to three as a number ("tres coma catorce")."""
        zeros = len(digits) - len(digits.lstrip("0"))
        rest = digits[zeros:]
        if self.language == "de" or len(rest) > 3:
            return " ".join(self._words(int(digit)) for digit in digits)
        return " ".join([self._words(0)] * zeros + ([self._words(int(rest))] if rest else []))

    def year(self, text: str) -> str:
        kind = "year" if self.language == "de" and 1100 <= int(text) < 2000 else "cardinal"
        return self._words(int(text), kind)

    def date(self, match: re.Match[str], day: str, month: str, year: str | None) -> str:
        if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
            return match.group()
        return self._date(match, int(day), self.grammar.months[int(month) - 1], year)

    def read_written_date(self, match: re.Match[str]) -> str:
        day = int(match["day"])
        return (
            self._date(match, day, match["month"], match["year"])
            if 1 <= day <= 31
            else match.group()
        )

    def _date(self, match: re.Match[str], day: int, month: str, year: str | None) -> str:
        parts = [self._day(match, day), month]
        if year is not None:
            parts.append(self.year(year))
        return self.grammar.date_joint.join(parts)

    def _day(self, match: re.Match[str], day: int) -> str:
        if self.language != "de":
            return (
                self.grammar.first_day if day == 1 and self.grammar.first_day else self._words(day)
            )
        before = match.string[: match.start()].split()
        word = before[-1].lower() if before else ""
        stem = self._words(day, "ordinal")  # "dritte"
        if word in {"am", "vom", "zum", "bis", "dem", "den", "des", "ab", "im"}:
            return stem + "n"
        return stem if word in {"der", "das", "die"} else stem + "r"

    def clock(self, match: re.Match[str]) -> str:
        if match[3] and match.group().endswith("h") and self.language != "fr":
            return match.group()  # "5 h" is a duration
        hour, minute = int(match[1] or match[3]), int(match[2] or 0)
        hours = self.grammar.one_hour if hour == 1 else self._words(hour)
        if self.language == "fr" and hour == 1:
            return f"une heure {self._words(minute)}" if minute else "une heure"
        if not minute:
            return hours + self.grammar.full_hour
        return f"{hours}{self.grammar.clock_joint}{self._words(minute)}"

    def phone(self, match: re.Match[str]) -> str:
        groups = re.findall(r"\d+", match.group())
        return ", ".join(" ".join(self._words(int(digit)) for digit in group) for group in groups)

    def currency(self, sign: str) -> Currency:
        return self.grammar.currencies[_CODES.get(sign, sign)]

    def read_unit(self, match: re.Match[str]) -> str:
        return f"{self.number(match[1])} {self.grammar.units[match[2]]}"

    def money(self, text: str, sign: str) -> str:
        one, many, parts = self.currency(sign)
        whole, fraction = _split_number(text)
        if fraction and len(fraction) != 2:
            return f"{self.number(text)} {many}"
        cents = int(fraction or 0)
        if int(whole) == 0 and cents and parts:
            return f"{self._counted(cents)} {parts}"
        units = one if int(whole) == 1 else f"{self._counted(int(whole))} {many}"
        return f"{units}{self.grammar.money_joint}{self._words(cents)}" if cents else units

    def _counted(self, number: int) -> str:
        """A number before a noun: "veintiún euros", "hundertein Euro"."""
        words = self._words(number)
        ending, short = self.grammar.one_before_noun
        if not ending or not words.endswith(ending):
            return words
        stem = words[: -len(ending)]
        return stem + ("ún" if self.language == "es" and stem.endswith("i") else short)

    def ordinal(self, match: re.Match[str]) -> str:
        if (match[2] and self.language != "fr") or (match[3] and self.language in {"de", "fr"}):
            return match.group()
        if match[2] in {"er", "ère", "re"}:
            return "premier" if match[2] == "er" else "première"
        words = self._words(int(match[1]), "ordinal")
        if match[3] and match[3][-1] == "ª":
            return re.sub(r"o\b", "a", words)
        return words


@cache
def _written_date(language: str) -> re.Pattern[str]:
    months = "|".join(GRAMMARS[language].months)
    return re.compile(
        rf"(?<![\w.,/])(?P<day>\d{{1,2}})(?:\.|er|º|°)?(?: de)? (?P<month>{months})"
        r"(?:(?: de)? (?P<year>\d{4})(?!\d))?\b",
        re.I,
    )


@cache
def _abbreviation(language: str) -> re.Pattern[str]:
    words = sorted(map(re.escape, GRAMMARS[language].abbreviations), key=len, reverse=True)
    return re.compile(rf"(?<![\w.])({'|'.join(words)})(?!\w)")


@cache
def _unit(language: str) -> re.Pattern[str]:
    signs = "|".join(map(re.escape, GRAMMARS[language].units))
    return re.compile(rf"(?<![\w.,])({_N}) ?({signs})(?!\w)")


def _split_number(text: str) -> tuple[str, str]:
    """Whole part and fraction: "1.234,5" -> ("1234", "5")."""
    text = text.replace("'", "").replace(" ", "")
    if 0 <= text.rfind(",") < text.rfind("."):
        text = text.replace(",", "").replace(".", ",")  # written as in English: 1,234.50
    if "," in text:
        whole, _, fraction = text.replace(".", "").partition(",")
        return whole, fraction
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", text):
        return text.replace(".", ""), ""
    whole, _, fraction = text.partition(".")
    return whole, fraction
