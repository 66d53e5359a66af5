"""Writes English abbreviations out. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from s2s.tts.text.tracked import Tracked

_TITLES = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Messrs": "Messieurs", "Prof": "Professor",
    "Gen": "General", "Col": "Colonel", "Maj": "Major", "Capt": "Captain", "Cmdr": "Commander",
    "Sgt": "Sergeant", "Lt": "Lieutenant", "Gov": "Governor", "Sen": "Senator",
    "Rep": "Representative", "Rev": "Reverend", "Hon": "Honorable", "Mt": "Mount", "Ft": "Fort",
    "Dr": "Doctor", "St": "Saint",
}  # fmt: skip
_STREETS = {
    "St": "Street", "Dr": "Drive", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road",
    "Ln": "Lane", "Ct": "Court", "Hwy": "Highway", "Pkwy": "Parkway", "Sq": "Square",
    "Pl": "Place",
}  # fmt: skip
_DOTTED_WORDS = {
    "vs": "versus", "etc": "et cetera", "e.g": "for example", "i.e": "that is",
    "approx": "approximately", "dept": "department", "govt": "government", "est": "established",
    "max": "maximum", "min": "minimum", "avg": "average", "incl": "including",
    "excl": "excluding", "misc": "miscellaneous", "cf": "compare", "ca": "circa",
    "viz": "namely", "al": "others", "jr": "Junior", "sr": "Senior", "inc": "Incorporated",
    "ltd": "Limited", "corp": "Corporation", "co": "Company", "bros": "Brothers",
    "assn": "Association", "univ": "University", "apt": "apartment", "appt": "appointment",
    "tel": "telephone", "ext": "extension", "fig": "figure", "figs": "figures", "eq": "equation",
    "vol": "volume", "vols": "volumes", "chs": "chapters", "ch": "chapter", "sec": "section",
    "ed": "edition", "pp": "pages", "ft": "feet", "lbs": "pounds", "oz": "ounces",
    "ave": "Avenue", "blvd": "Boulevard", "rd": "Road", "jan": "January", "feb": "February",
    "mar": "March", "apr": "April", "aug": "August", "sept": "September", "sep": "September",
    "oct": "October", "nov": "November", "dec": "December", "rm": "Room", "mr": "Mister",
    "mrs": "Missus", "ms": "Miz", "prof": "Professor", "tues": "Tuesday", "thurs": "Thursday",
    "fri": "Friday",
}  # fmt: skip
_CAPITAL_ONLY = frozenset({"mr", "ms", "mrs", "prof", "rm"})
_UNIT_ABBREVIATIONS = frozenset({"min", "sec", "ft", "lbs", "oz"})
"""After a number they are units."""
_BARE_WORDS = {
    "vs": "versus", "etc": "et cetera", "approx": "approximately", "w/o": "without",
    "w/": "with", "b/c": "because", "aka": "also known as", "a.k.a": "also known as",
    "Blvd": "Boulevard", "Mr": "Mister", "Mrs": "Missus", "Ph.D": "P H D", "PhD": "P H D",
    "iOS": "i O S", "macOS": "mac O S", "OK": "okay", "et al": "and others", "R&D": "R and D",
    "Q&A": "Q and A", "AT&T": "A T and T", "P&L": "P and L", "C++": "C plus plus",
    "C#": "C sharp", "F#": "F sharp", ".NET": "dot net", "and/or": "and or",
    "he/she": "he or she", "she/he": "she or he", "his/her": "his or her",
    "him/her": "him or her", "s/he": "he or she", "yes/no": "yes or no",
    "his/hers": "his or hers", "mmHg": "millimeters of mercury", "401(k)": "four oh one K",
    "401k": "four oh one K", "tsp": "teaspoon", "tbsp": "tablespoon", "Wi-Fi": "Wi-Fi",
    "wifi": "Wi-Fi", "Jr": "Junior", "TCP/IP": "T C P I P", "I/O": "I O",
    "n/a": "not applicable", "N/A": "not applicable",
}  # fmt: skip
_AFTER_NUMBER_WORDS = {
    "p": "page",
    "pp": "pages",
    "No": "number",
    "Nos": "numbers",
    "Nr": "number",
    "c": "circa",
}


def _any_of(words: Iterable[str]) -> str:
    """Alternatives of a pattern, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_SENTENCE_STARTS = (
    "The|Then|It|He|She|We|They|I|You|This|That|If|In|On|But|And|So|There|What|When|How|Why|Is|Are"
)
_INITIAL = re.compile(rf"(?<![\w.])([A-Z])\.(?= [A-Z])(?! (?:{_SENTENCE_STARTS})\b)")
_ET_AL = re.compile(r"\bet al\b\.?")
_TITLE = re.compile(rf"\b({'|'.join(_TITLES)})\.? (?=[A-Z][\w.'-]|[A-Z]\.)")
_STREET = re.compile(
    rf"(?<![\w.])(?!Mount|Port|Fort)([A-Z0-9][\w']* )({'|'.join(_STREETS)})"
    r"(?:\.|\b(?=[,;:!?]|\s|$))"
)
_DOTTED_WORD = re.compile(rf"(?<![\w.])({_any_of(_DOTTED_WORDS)})\.(?![\w-])", re.I)
_BARE_WORD = re.compile(rf"(?<![\w./&+-])({_any_of(_BARE_WORDS)})(?![\w/&+#])")
_PAGE = re.compile(rf"\b({'|'.join(_AFTER_NUMBER_WORDS)})\. ?(?=\d)")
_SENTENCE_STOP = re.compile(r"\s*$|\s+[\"'(]?[A-Z]")


def read_initials(text: Tracked) -> None:
    """Drop the full stops of initials, which would sound like ends of sentences."""
    text.sub(_INITIAL, lambda match: match[1])


def read_abbreviations(text: Tracked) -> None:
    """Write abbreviations out in place. A full stop that also ends the sentence stays."""
    text.sub(_ET_AL, "and others")
    text.sub(_PAGE, lambda m: _AFTER_NUMBER_WORDS[m[1]] + " ")
    text.sub(_STREET, _read_street)
    text.sub(_TITLE, lambda m: _TITLES[m[1]] + " ")
    text.sub(_DOTTED_WORD, _read_dotted_word)
    text.sub(_BARE_WORD, lambda m: _BARE_WORDS[m[1]])


def _read_street(match: re.Match[str]) -> str:
    """A street ("Elm St."), but no drive in "Thanks Dr. Jones"."""
    rest = match.string[match.end() :]
    if match[2] in {"Dr", "Ct", "Pl", "Sq"} and re.match(r"\s+[A-Z]", rest):
        return match.group()
    stop = match.group().endswith(".") and _SENTENCE_STOP.match(rest)
    return match[1] + _STREETS[match[2]] + ("." if stop else "")


def _read_dotted_word(match: re.Match[str]) -> str:
    word = match[1]
    known = _DOTTED_WORDS[word.lower()]
    after_number = match.string[: match.start()].rstrip()[-1:].isdigit()
    if word in _CAPITAL_ONLY or (after_number and word.lower() in _UNIT_ABBREVIATIONS):
        return match.group()
    if word.isupper() and len(word) > 1:
        return match.group()  # "EST" is a time zone
    is_word_itself = word.lower() in {
        "fig",
        "min",
        "max",
        "sec",
        "ed",
        "co",
        "mar",
        "fri",
        "al",
        "dec",
    }
    if is_word_itself and word.islower() and _SENTENCE_STOP.match(match.string, match.end()):
        return match.group()
    stays = _SENTENCE_STOP.match(match.string, match.end()) and word.lower() not in {
        "e.g",
        "i.e",
        "vs",
    }
    at_end = not match.string[match.end() :].strip()
    return known + (
        "." if at_end or (stays and word.lower() in {"etc", "inc", "ltd", "corp", "co"}) else ""
    )
