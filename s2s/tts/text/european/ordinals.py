"""Ordinals and Roman numerals in the five European languages. Pure."""

from __future__ import annotations

import re
from functools import cache

from s2s.tts.text.european.dates import german_ordinal
from s2s.tts.text.european.names import (
    CENTURY_CUES,
    COUNTED,
    GERMAN_NEUTER,
    GERMAN_ORDINAL_NOUNS,
    RULERS,
    WOMEN,
)
from s2s.tts.text.european.words import Words
from s2s.tts.text.romans import read_roman_signs, roman
from s2s.tts.text.tracked import Tracked

_NUMERAL = r"(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_SMALL_NUMERAL = r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})"
_SUFFIX = re.compile(
    r"(?<![\w.,])(\d{1,9})(?:(er|ère|re|e|ème|ième|nd|nde|de|es|èmes)\b|(\.?[ºª])|°(?= [a-z]{3,})"
    r"|\.(?:er|o|a)\b|(ro|do|to|mo|vo|no|ra|da|ta|ma|va|na|er|ros|dos|tos)\b)"
)
_GERMAN = re.compile(r"(?<![\w.,])(\d{1,4})\.(?= (?:und \d{1,4}\. )?([A-ZÄÖÜ][\w-]+))")
_GERMAN_PAIR = re.compile(r"(?<![\w.,])(\d{1,4})\.(?= [a-zäöü])")
"""No sentence goes on with a small letter: the full stop makes an ordinal."""
_GERMAN_DAY = re.compile(
    r"(?:(?<=\b[Aa]m )|(?<=\bvom )|(?<=\bzum )|(?<=\bdem )|(?<=\bden ))(\d{1,2})\.(?=[,;:)]|\s*\Z)"
)
_GERMAN_CUE = re.compile(
    r"\b(?:am|vom|zum|im|beim|bis|dem|den|des|der|die|das|zur|ins|ein|eine|einen|einem|einer|sein"
    r"|seine|seinen|seinem|ihr|ihre|ihren|ihrem|mein|meine|meinen|meinem|unser|unsere|unseren|jeder"
    r"|jede|jedes|jeden|jedem|dieser|diese|dieses|diesen|diesem|und|oder|bis|seit|kein|keine) \Z",
    re.I,
)
_DECADE = re.compile(r"(?<![\w.,])(\d{2}|\d{4})er(?=n?\b)")
_GERMAN_YEAR = re.compile(
    r"\b((?:im|in|seit|von|bis|ab|um|Jahr|Jahre|Jahren|Jahres|anno|und|nach|vor|Sommer|Winter"
    r"|Frühjahr|Frühling|Herbst|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober"
    r"|November|Dezember) |\(|–|− )(1[1-9]\d\d)(?![\w]|[.,]\d| ?(?:%|Prozent|Euro|€|Meter))",
    re.I,
)
_GERMAN_BARE_YEAR = re.compile(r"(?<![\w.,−+±])(1[1-9]\d\d)(?![\w]|[.,]\d| [A-ZÄÖÜ])")
"""Without a noun after it: "1989 fiel die Mauer"."""


def read_romans(text: Tracked, words: Words) -> None:
    """Write Roman numerals in place: of rulers in words, of all others in digits."""
    language = words.language
    read_roman_signs(text, _letters_after(language))
    if language in CENTURY_CUES:
        text.sub(_century_before(language), lambda m: _centuries(m, _degree(language)))
    if language == "fr":
        text.sub(_FRENCH_CENTURY, lambda m: f"{_value(m[1])}e")
    if language == "it":
        text.sub(_ITALIAN_CENTURY, lambda m: words.ordinal(_value(m[1])))
    if language == "de":
        text.sub(_GERMAN_ROMAN, lambda m: f"{_value(m[1])}.")
    text.sub(_ruler(language), lambda m: _ruler_number(m, words), 2)
    text.sub(_counted(language), lambda m: str(_value(m[2])), 2)
    text.sub(_NAMED, lambda m: str(_value(m[2])), 2)


def read_ordinals(text: Tracked, words: Words) -> None:
    """Replace ordinals and decades in `text` in place."""
    if words.language == "de":
        text.sub(_GERMAN_DAY, lambda m: _german_day(m, words))
        text.sub(_GERMAN_PAIR, lambda m: _german(m, words, paired=True))
        text.sub(_GERMAN, lambda m: _german(m, words, paired=False))
        text.sub(_DECADE, lambda m: words.year(m[1]) + "er")
        text.sub(_GERMAN_YEAR, lambda m: words.year(m[2]), 2)
        text.sub(_GERMAN_BARE_YEAR, lambda m: words.year(m[1]))
    else:
        text.sub(_SUFFIX, lambda m: _suffixed(m, words))


def _centuries(match: re.Match[str], degree: str) -> str:
    """ "siglo XIX", "siglos XVIII y XIX"."""
    second = f"{match[3]}{_value(match[4])}{degree}" if match[4] else ""
    return f"{match[1]} {_value(match[2])}{degree}{second}"


def _value(letters: str) -> int:
    return roman(letters.upper()) or 0


def _degree(language: str) -> str:
    """Spanish and Portuguese count centuries, the others number them."""
    return "º" if language == "it" else ""


def _suffixed(match: re.Match[str], words: Words) -> str:
    language, number = words.language, int(match[1])
    french, sign, spanish = match[2], match[3], match[4]
    if language == "fr":
        if sign or spanish in {"ro", "do", "to", "mo"} or french is None:
            return match.group()
        if french == "er":
            return "premier" if number == 1 else match.group()
        if french in {"nd", "nde", "de"}:
            return ("second" if french == "nd" else "seconde") if number == 2 else match.group()
        plural = "s" if french.endswith("s") else ""
        return words.ordinal(number, feminine=french in {"ère", "re"}) + plural
    if match.group().endswith("°") and language != "it":
        return match.group()
    if french and not (french == "er" and language == "es"):
        return match.group()
    if spanish and language != "es":
        return match.group()
    said = words.ordinal(number, feminine=(sign or spanish or "").endswith(("ª", "a")))
    if language == "es" and match.group().endswith("er"):
        return said[:-1] if said.endswith(("primero", "tercero")) else said
    return said


def _german(match: re.Match[str], words: Words, *, paired: bool) -> str:
    """Ordinal where a word before it or the noun after it says so; else a sentence ends here."""
    before = match.string[: match.start()]
    noun = "" if paired else match[2]
    number = int(match[1])
    cued = paired or _GERMAN_CUE.search(before[-30:]) is not None
    if not cued and noun not in GERMAN_ORDINAL_NOUNS:
        return match.group()
    said = german_ordinal(words, number, before)
    if said.endswith("er") and noun in GERMAN_NEUTER:
        return said[:-1] + "s"
    if said.endswith("er") and (noun.endswith(("ung", "heit", "keit")) or noun in _FEMININE):
        return said[:-1]
    return said


def _german_day(match: re.Match[str], words: Words) -> str:
    """ "am 21." at the end of a sentence; its full stop also ends that."""
    stop = "" if match.string[match.end() :].strip() else "."
    return german_ordinal(words, int(match[1]), match.string[: match.start()]) + stop


_FEMININE = frozenset(
    {"Klasse", "Woche", "Minute", "Runde", "Etage", "Auflage", "Ausgabe", "Reihe", "Liga", "Stunde"}
)


def _ruler_number(match: re.Match[str], words: Words) -> str:
    """ "Louis XIV" is "quatorze", "Felipe II" is "segundo", "Ludwig XIV." is "der Vierzehnte"."""
    number, language = _value(match["numeral"]), words.language
    feminine = match[1] in WOMEN or match[1].rstrip("s") in WOMEN
    if language == "de":
        return _german_ruler(match, words.ordinal(number), feminine=feminine)
    if language == "fr":
        return words.ordinal(1, feminine=feminine) if number == 1 else words.cardinal(number)
    if language == "it" or number <= 10:
        return words.ordinal(number, feminine=feminine)
    return words.cardinal(number)


def _german_ruler(match: re.Match[str], ordinal: str, *, feminine: bool) -> str:
    """With its article in the case of the name; a full stop that ends the sentence stays."""
    name = match[1]
    if _DATIVE_BEFORE.search(match.string[: match.start()]):
        article, ending = ("der" if feminine else "dem"), "n"
    elif name.endswith("s") and name not in RULERS:
        article, ending = "des", "n"
    else:
        article, ending = ("die" if feminine else "der"), ""
    at_end = match.group().endswith(".") and not match.string[match.end() :].strip()
    return f"{article} {ordinal[0].upper()}{ordinal[1:]}{ending}" + ("." if at_end else "")


_DATIVE_BEFORE = re.compile(r"\b(?:von|mit|unter|bei|nach|zu|seit|vor)(?: \w+)? \Z")
_FRENCH_CENTURY = re.compile(rf"\b({_SMALL_NUMERAL})(?:e|ème|ᵉ)\b")
_ITALIAN_CENTURY = re.compile(rf"\b({_NUMERAL})(?= secolo\b)")
_GERMAN_ROMAN = re.compile(
    rf"\b({_SMALL_NUMERAL})\.(?= (?:{'|'.join(sorted(GERMAN_ORDINAL_NOUNS))})\b)"
)
_NAMED = re.compile(
    r"(?<=[a-zäöüßéèêàáíóúçñã] )?\b([A-ZÄÖÜÉ][a-zäöüßéèêàáíóúçñã]{2,}) "
    r"(I{2,3}|I[VX]|VI{1,3}|XI{1,3}|XI?V|XVI{0,3}|XI?X|XXI{0,3}|XX?I?V)\b(?![-'’])"
)


@cache
def _century_before(language: str) -> re.Pattern[str]:
    return re.compile(
        rf"\b((?:{CENTURY_CUES[language]})) ({_NUMERAL})\b(?![.'’]\w)(?:( (?:y|e|a|al|o|ou) "
        rf"|[-–])({_NUMERAL})\b)?",
        re.I,
    )


@cache
def _ruler(language: str) -> re.Pattern[str]:
    names = "|".join(sorted(RULERS | {f"{name}s" for name in RULERS}))
    ending = r"\.?" if language == "de" else ("(?:er|ère|re)?" if language == "fr" else "")
    return re.compile(
        rf"\b({names}) ((?P<numeral>{_SMALL_NUMERAL}){ending})(?!\w|\. ?[A-Z]\.|['’])"
    )


@cache
def _counted(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b((?:{COUNTED[language]})) ({_NUMERAL})\b(?!['’-])")


@cache
def _letters_after(language: str) -> re.Pattern[str]:
    names = "|".join(sorted(RULERS))
    cues = f"|(?i:{CENTURY_CUES[language]})" if language in CENTURY_CUES else ""
    return re.compile(rf"\b(?:{names}{cues}) \Z")
