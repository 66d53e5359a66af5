"""Reads English dates and times of day. Pure."""

from __future__ import annotations

import re

from s2s.tts.text.english.numerals import cardinal, ordinal, year
from s2s.tts.text.tracked import Tracked

_MONTH_NAMES = (
    "January February March April May June July August September October November December"
)
_MONTHS = _MONTH_NAMES.split()
_MONTH_WORDS = (
    r"Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
)
_DAYS = {
    "mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "thu": "Thursday",
    "thur": "Thursday", "thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday",
}  # fmt: skip
_TIME = r"(?:[01]?\d|2[0-4]):[0-5]\d"
_HALF_DAY = r"(?:[aApP]\.?[mM](?!\w)(?:\.(?=\s+[a-z]|[,;:!?)–—-]))?)"

_ISO = re.compile(
    r"(?<![\w-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?"
    r"(Z| ?[+-]\d{2}:?\d{2})?)?(?![\w-]|\.\d)"
)
_NUMERIC = re.compile(r"(?<![\w/.-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|\.\d)")
_SHORT = re.compile(
    r"\b(on|by|until|before|since|due|after) (1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])(?![\w/])"
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH_WORDS})\.? (\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:( ?[-–] ?| to )(\d{1,2})(?:st|nd|rd|th)?)?"
    r"(?:(?:,|, | )(\d{4}))?(?![\w:]|[.,]\d|-\w)"
)
_DAY_MONTH = re.compile(
    rf"\b(the )?(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH_WORDS})\b\.?"
    r"(?:(?:,|, | )(\d{4})(?![\w:]|[.,]\d))?"
)
_MONTH_YEAR = re.compile(rf"\b({_MONTH_WORDS})\.?,? (\d{{4}})(?![\w:]|[.,]\d)")
_DAY_WORDS = "Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun"
_WEEKDAY = re.compile(rf"\b({_DAY_WORDS})\b(\.?)(?=,? (?:(?:{_MONTH_WORDS})\b|\d))", re.I)
_DAY_SPAN = re.compile(rf"\b({_DAY_WORDS})\.? ?[-–] ?({_DAY_WORDS})\b")
_MONTH_SPAN = re.compile(rf"\b({_MONTH_WORDS})\.? ?[-–] ?({_MONTH_WORDS})\b")
_TIME_SPAN = re.compile(
    rf"((?<![\w:]){_TIME}|(?<![\w:.])\d{{1,2}}(?= ?{_HALF_DAY}))( ?{_HALF_DAY})?"
    rf" ?[-–—] ?(?={_TIME}|\d{{1,2}} ?{_HALF_DAY})"
    rf"|(?<![\w:.$])(\d{{1,2}}) ?[-–—] ?(?=\d{{1,2}} ?{_HALF_DAY})"
)
_CLOCK = re.compile(
    rf"(?<![\w:.])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?: ?({_HALF_DAY}))?(?![\w:]|\.\d)"
)
_CUED_RATIO = re.compile(
    r"\b((?:ratios?|odds|scale|score|won|lost|beat|draw|tied|final|aspect)\b[^.:;\d]{0,20})(\d{1,3}):(\d{1,3})(?![\w:])",
    re.I,
)
"""16:10 is no time of day here."""
_FRENCH_CLOCK = re.compile(r"(?<![\w:.,])([01]?\d|2[0-4])h([0-5]\d)(?!\w)")
_DOTTED_CLOCK = re.compile(rf"(?<![\w:.,])(1[0-2]|0?[1-9])\.([0-5]\d)(?= ?{_HALF_DAY})")
_HOUR = re.compile(rf"(?<![\w:.])(1[0-2]|0?[1-9]) ?({_HALF_DAY})")


def read_dates(text: Tracked) -> None:
    """Replace dates and times of day in `text` in place."""
    text.sub(_ISO, _read_iso)
    text.sub(_NUMERIC, _read_numeric)
    text.sub(_SHORT, lambda m: f"{m[1]} {_date(None, int(m[2]), int(m[3]))}")
    text.sub(_DAY_SPAN, lambda m: f"{_DAYS[m[1].lower()]} to {_DAYS[m[2].lower()]}")
    text.sub(_WEEKDAY, lambda m: _DAYS[m[1].lower()])
    text.sub(_MONTH_SPAN, lambda m: f"{_month(m[1])} to {_month(m[2])}")
    text.sub(_MONTH_DAY, _read_month_day)
    text.sub(_DAY_MONTH, _read_day_month)
    text.sub(_MONTH_YEAR, lambda m: f"{_month(m[1])} {year(int(m[2]))}")
    text.sub(_CUED_RATIO, lambda m: f"{m[1]}{cardinal(int(m[2]))} to {cardinal(int(m[3]))}")
    text.sub(_TIME_SPAN, lambda m: f"{m[1] or m[3]}{m[2] or ''} to ")
    text.sub(_FRENCH_CLOCK, lambda m: f"{m[1]}:{m[2]}")
    text.sub(_DOTTED_CLOCK, lambda m: f"{m[1]}:{m[2]}")
    text.sub(_CLOCK, _read_clock)
    text.sub(_HOUR, lambda m: f"{cardinal(int(m[1]))} {_half_day(m[2])}")


def _month(name: str) -> str:
    return next(month for month in _MONTHS if month.lower().startswith(name[:3].lower()))


def _date(year_number: int | None, month: int, day: int) -> str:
    words = f"{_MONTHS[month - 1]} {ordinal(day)}"
    return words if year_number is None else f"{words}, {year(year_number)}"


def _full_year(text: str) -> int:
    """Two digits: 00 to 49 are of this century."""
    number = int(text)
    return number if len(text) == 4 else number + (2000 if number < 50 else 1900)


def _read_iso(match: re.Match[str]) -> str:
    month, day = int(match[3]), int(match[4])
    if not (1 <= month <= 12 and 1 <= day <= 31 and int(match[1]) >= 1000):
        return match.group()
    words = _date(int(match[1]), month, day)
    if match[5] is None:
        return words
    zone = {"Z": " U T C", None: ""}.get(match[7], "")
    return f"{words}, at {_time(int(match[5]), int(match[6]), None)}{zone}"


def _read_numeric(match: re.Match[str]) -> str:
    """Month first with slashes and hyphens as in the US, day first with dots; else what fits."""
    first, second, year_number = int(match[1]), int(match[3]), _full_year(match[4])
    padded = match[2] == "." and len(match.group()) == len("04.07.76")
    month, day = (second, first) if match[2] == "." else (first, second)
    if month > 12:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31) or (
        match[2] != "/" and len(match[4]) == 2 and not padded
    ):
        return match.group()
    return _date(year_number, month, day)


def _read_month_day(match: re.Match[str]) -> str:
    day = int(match[2])
    if not 1 <= day <= 31:
        return match.group()
    span = f" to {ordinal(int(match[4]))}" if match[4] else ""
    tail = f", {year(int(match[5]))}" if match[5] else ""
    return f"{_month(match[1])} {ordinal(day)}{span}{tail}"


def _read_day_month(match: re.Match[str]) -> str:
    day = int(match[2])
    if not 1 <= day <= 31:
        return match.group()
    tail = f", {year(int(match[4]))}" if match[4] else ""
    return f"the {ordinal(day)} of {_month(match[3])}{tail}"


def _half_day(text: str) -> str:
    """Read "p.m." as "P M"; the full stop that also ends the sentence was not taken."""
    return f"{text[0].upper()} M"


def _read_clock(match: re.Match[str]) -> str:
    half = f" {_half_day(match[4])}" if match[4] else ""
    seconds = f" and {cardinal(int(match[3]))} seconds" if match[3] else ""
    return _time(int(match[1]), int(match[2]), half or None) + seconds + half


def _time(hour: int, minute: int, half: str | None) -> str:
    if minute:
        return f"{cardinal(hour)} {f'oh {cardinal(minute)}' if minute < 10 else cardinal(minute)}"
    if half is not None:
        return cardinal(hour)
    if hour in {0, 24}:
        return "midnight"
    return f"{cardinal(hour)} o'clock" if hour <= 12 else f"{cardinal(hour)} hundred"
