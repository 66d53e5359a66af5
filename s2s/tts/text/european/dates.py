"""Dates and times of day in German, French, Spanish, Italian and Portuguese. Pure."""

from __future__ import annotations

import re
from functools import cache

from s2s.tts.text.european.grammar import GRAMMARS
from s2s.tts.text.european.names import SHORT_MONTHS
from s2s.tts.text.european.words import Words
from s2s.tts.text.tracked import Tracked


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ISO = re.compile(r"(?<![\w-])(\d{4})-(\d{2})-(\d{2})(?:[T ](?=\d{2}:\d{2})|(?![\w-]))")
_ISO_ZONE = re.compile(r"(?<=\d:\d\d)(?:\.\d+)?(?:Z|\+00:?00)(?!\w)")
_NUMERIC = re.compile(r"(?<![\w./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|\.\d)")
_DAY_MONTH_DOTS = re.compile(r"(?<![\w.,])(\d{1,2})\.(\d{1,2})\.(?!\d)")
_CUES = {"fr": "le|du|au|dès le", "es": "el|del|al|día", "it": "il|dal|al|del", "pt": "dia|em"}
_YEAR_SPAN = re.compile(r"(?<![\w.,/-])((?:1[1-9]|20)\d\d)/(\d{2}|\d{4})(?![\w/]|[.,]\d)")
_HOUR = r"(?:[01]?\d|2[0-4])"
_CLOCK = re.compile(
    rf"(?<![\w:.,/−])({_HOUR}) ?(?::|[hH] ?)([0-5]\d)(?::([0-5]\d))?"
    r"(?: ?(?:Uhr|horas?|heures?|hrs|h|H|min)(?!\w))?(?![\w:]|[.,]\d)"
    rf"|(?<![\w:.,/−])({_HOUR})\.([0-5]\d) ?(?:Uhr|h|H)(?!\w)"
    rf"|(?:(?<=\bore )|(?<=\balle )|(?<=\bdalle )|(?<=\bàs ))({_HOUR})\.([0-5]\d)(?!\d|[.,]\d|%)"
    rf"|(?<![\w:.,/−])({_HOUR}) ?(?:[hH]|Uhr)(?![\w/])"
)
_CLOCK_SPAN = re.compile(r"(?<=\d[:hH][0-5]\d) ?[-–—] ?(?=\d{1,2}[:hH][0-5]\d(?!\d))")
_GERMAN_H = re.compile(r"(?i:(?<=\bum )|(?<=\bab )|(?<=\bgegen ))(\d{1,2}) ?h\b")
_HOUR_SPAN = re.compile(
    r"(?<![\w:.,])(\d{1,2}(?:[:.hH][0-5]\d)?)(?: ?(?:Uhr|h))? ?[-–—] ?"
    r"(?=\d{1,2}(?:[:.][0-5]\d|[hH][0-5]?\d?)?(?: ?(?:Uhr|h)\b))"
)


def read_dates(text: Tracked, words: Words) -> None:
    """Replace dates in `text` in place; runs before anything else about numbers."""
    language = words.language
    if language == "de":
        text.sub(_DAY_SPAN, " bis ")
    text.sub(_ISO_ZONE, " U T C")
    text.sub(_ISO, lambda m: _iso(m, words))
    text.sub(_NUMERIC, lambda m: _numeric(m, words))
    text.sub(_written(language), lambda m: _read_written(m, words))
    if language == "de":
        text.sub(_DAY_MONTH_DOTS, lambda m: _day_month(m, words))
    else:
        text.sub(_slash_date(language), lambda m: _read_slash(m, words))
    text.sub(_YEAR_SPAN, lambda m: f"{words.year(m[1])} {words.cardinal(int(m[2]))}")


def read_times(text: Tracked, words: Words, until: str) -> None:
    """Replace times of day in `text` in place."""
    text.sub(_CLOCK_SPAN, f" {until} ")
    if words.language == "de":
        text.sub(_GERMAN_H, lambda m: f"{m[1]} Uhr")
    text.sub(_HOUR_SPAN, lambda m: f"{_with_hour(m)} {until} ")
    text.sub(_CLOCK, lambda m: _clock(m, words))


def _with_hour(match: re.Match[str]) -> str:
    """Read "9 Uhr - 10 Uhr" with both hours; "9-17 Uhr" says Uhr once."""
    whole = match.group().rstrip(" -–—")
    return whole if any(char.isalpha() or char == ":" for char in whole) else match[1]


def _iso(match: re.Match[str], words: Words) -> str:
    date = _date(match, words, match[3], match[2], match[1])
    return f"{date} " if match.group()[-1] in "T " and date != match.group() else date


def _numeric(match: re.Match[str], words: Words) -> str:
    """Day first; month first only where nothing else is possible."""
    day, month, year = match[1], match[3], match[4]
    if int(month) > 12 >= int(day):
        day, month = month, day
    if len(year) == 2:
        if match[2] == "-" or (match[2] == "." and len(match.group()) < 6):
            return match.group()
        year = str(int(year) + (2000 if int(year) < 50 else 1900))
    return _date(match, words, day, month, year)


def _day_month(match: re.Match[str], words: Words) -> str:
    said = _date(match, words, match[1], match[2], None)
    ends = not match.string[match.end() :].strip() or re.match(
        r"\s+[A-ZÄÖÜ]", match.string[match.end() :]
    )
    starts_noun = match.string[match.end() :].strip() and ends
    return said + ("." if ends and not starts_noun and said != match.group() else "")


def _read_slash(match: re.Match[str], words: Words) -> str:
    """Read "le 15/3": only where it can't be a fraction."""
    day, month = int(match[2]), int(match[3])
    if day <= month and day < 10:
        return match.group()
    said = _date(match, words, match[2], match[3], None)
    return match.group() if said == match.group() else f"{match[1]} {said}"


def _read_written(match: re.Match[str], words: Words) -> str:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return match.group()
    month = match["month"]
    if month.endswith("."):
        month = words.grammar.months[SHORT_MONTHS[words.language][month[:-1].lower()] - 1]
    return _say(match, words, day, month, match["year"])


def _date(match: re.Match[str], words: Words, day: str, month: str, year: str | None) -> str:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return match.group()
    return _say(match, words, int(day), words.grammar.months[int(month) - 1], year)


def _say(match: re.Match[str], words: Words, day: int, month: str, year: str | None) -> str:
    parts = [_day(match, words, day), month]
    if year is not None:
        parts.append(words.year(year))
    return words.grammar.date_joint.join(parts)


def _day(match: re.Match[str], words: Words, day: int) -> str:
    if words.language != "de":
        first = words.grammar.first_day
        return first if day == 1 and first else words.cardinal(day)
    return german_ordinal(words, day, match.string[: match.start()])


def german_ordinal(words: Words, number: int, before: str) -> str:
    """An ordinal with the ending that the words before it ask for: "am dritten", "der dritte"."""
    stem = words.ordinal(number)  # "dritte"
    around = before.rsplit("\n", 1)[-1].split()[-2:]
    last = around[-1].lower().strip("(\"'„“") if around else ""
    if last in {"und", "oder", "bis"} and len(around) == 2:
        if around[0].endswith("ten"):
            return stem + "n"  # "im achtzehnten und neunzehnten"
        if _DAY_DOT.fullmatch(around[0]):
            return german_ordinal(words, number, before.rstrip().rsplit(" ", 2)[0])
    if last in _WEAK_EN:
        return stem + "n"
    if last in {"der", "die", "das", "diese", "jede", "welche", "eine", "meine", "seine", "ihre"}:
        preposition = around[0].lower() if len(around) == 2 else ""
        return stem + ("n" if last == "der" and preposition in _DATIVE else "")
    if last in {"dieser", "jeder", "welcher", "ins", "fürs", "dieses", "jedes"}:
        return stem
    return stem + "r"


_DAY_DOT = re.compile(r"\d{1,2}\.")
_DAY_SPAN = re.compile(r"(?<=\d\.) ?[-–] ?(?=\d{1,2}\. )")
_WEAK_EN = _words(
    "am vom zum im beim bis dem den des ab zur diesem diesen jedem jeden einem einen einer seinem"
    " seinen ihrem ihren meinem meinen unserem unseren deinem deinen seiner ihrer meiner unserer"
    " seit hinterm überm unterm"
)
_DATIVE = _words(
    "in an auf mit nach von zu bei aus seit vor unter über neben hinter zwischen während wegen"
    " ab laut gegenüber trotz statt innerhalb"
)


@cache
def _written(language: str) -> re.Pattern[str]:
    months = "|".join(
        (*GRAMMARS[language].months, *(rf"{short}\." for short in SHORT_MONTHS[language]))
    )
    return re.compile(
        rf"(?<![\w.,/])(?P<day>\d{{1,2}})(?:\.|er|º|°)?(?: de)? ?(?P<month>{months})"
        r"(?:(?: del?)? (?P<year>\d{4})(?!\d))?(?<=[\w.])(?!\w)",
        re.I,
    )


@cache
def _slash_date(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)({_CUES[language]}) (\d{{1,2}})/(\d{{1,2}})(?![\w/]|[.,]\d)", re.I)


def _clock(match: re.Match[str], words: Words) -> str:
    hour_text = match[1] or match[4] or match[6] or match[8]
    minute = int(match[2] or match[5] or match[7] or 0)
    if match[8] and match.group().endswith(("h", "H")) and words.language != "fr":
        return match.group()  # "5 h" is a duration
    hour = _hour(int(hour_text), words)
    grammar = words.grammar
    if not minute and not match[3]:
        one = int(hour_text) == 1 or (words.language == "fr" and int(hour_text) == 0)
        if words.language in {"fr", "pt"} and one:
            return f"{hour}{grammar.full_hour.removesuffix('s')}"
        return hour + grammar.full_hour
    joint = grammar.clock_joint
    if words.language == "fr" and int(hour_text) <= 1:
        joint = " heure "
    said = f"{hour}{joint}{words.cardinal(minute)}"
    if match[3]:
        said += f" {_AND[words.language]} {words.counted(int(match[3]), *grammar.seconds[:2])}"
    return said


_AND = {"de": "und", "fr": "et", "es": "y", "it": "e", "pt": "e"}


def _hour(hour: int, words: Words) -> str:
    if words.language == "de":
        return "ein" if hour == 1 else words.cardinal(hour)
    if words.language in {"it", "fr"} and hour != 1:
        return words.cardinal(hour)
    if words.language == "it":
        return "una"
    return words.before_noun(words.cardinal(hour), words.grammar.one_hour)
