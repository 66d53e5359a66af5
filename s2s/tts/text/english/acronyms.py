"""Spells English acronyms. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from s2s.tts.text.tracked import Tracked

_WORDS_TEXT = """
NASA NATO UNESCO UNICEF OPEC RAM ROM LAN WAN GIF PIN SIM LASER RADAR SONAR SCUBA AIDS SARS COVID
FIFA UEFA NASDAQ ASCII JPEG MPEG BIOS CAPTCHA DOS SWAT FOMO YOLO IKEA LEGO OSHA FEMA HIPAA NAFTA
POTUS SCOTUS FLOTUS NAND AWOL ZIP CAD MIDI GNOME BASIC COBOL FORTRAN YAML JSON TOML LAMP CRUD
REST SOAP AJAX ACID BERT LIDAR NIMBY TASER WASP DARPA NOAA NORAD ASEAN EBITDA FAFSA GAAP IMAX
MENSA PETA VISA VOIP WIFI HEPA ECMO LLAMA
"""
_SAID_AS_WORDS = frozenset(_WORDS_TEXT.split())
_SHOUTED_TEXT = """
A I AM AN AND ANY ARE AS ASK AT BAD BE BIG BUT BY CAN DAY DID DO END FAR FEW FOR GET GO GOD GOT
HAD HAS HE HER HEY HIM HIS HOT HOW IF IN IS ITS LET LOT LOW MAN MAY ME MEN MY NEW NO NOT NOW OF
OFF OH OLD ON ONE OR OUR OUT OWN PUT RED RUN SAD SAY SEE SET SHE SIX SO TEN THE TO TOO TOP TRY
TWO UP USE WAR WAS WAY WE WHO WHY WIN WON YES YET YOU
"""
_ALSO_WORDS = frozenset(_SHOUTED_TEXT.split())
_SPELLED_TEXT = """
ASAP YMCA YWCA ISBN IEEE UCLA AARP ACLU ADHD ATMS AAPL HTTP HTTPS UEFI UUID GUID ISSN IATA ICAO
EULA URI AUD EUR USD CEO IOT NAACP OECD UAE USSR IELTS OLED APIS RSVP GPU CPU TPU
"""
_SPELLED = frozenset(_SPELLED_TEXT.split())
_RESPELLED = {"JSON": "Jason", "JPEG": "jay peg", "MPEG": "em peg"}
_ACRONYM = re.compile(r"(?<![\w.'])([A-Z]{2,})(s|'s)?(?![\w'])")
_DOTTED_ACRONYM = re.compile(r"(?<![\w.])((?:[A-Za-z]\.){2,})(?!\w)")
_CAPITAL_WORD = re.compile(r"\b[A-Z]{2,}\b")
_WORD = re.compile(r"\b[^\W\d_]{2,}\b")


def read_acronyms(text: Tracked, knows: Callable[[str], bool]) -> None:
    """Spell acronyms in place, but not those that are said as a word or that the lexicon knows.

    A word in capitals gets small letters: many voices spell what is in capitals.
    """
    text.sub(_DOTTED_ACRONYM, _spell_dotted)
    if not _ACRONYM.search(text.text):
        return
    capitals = _CAPITAL_WORD.findall(text.text)
    mostly = len(capitals) >= 3 and len(capitals) * 2 > len(_WORD.findall(text.text))
    shouting = mostly and any(word in _ALSO_WORDS for word in capitals)
    text.sub(_ACRONYM, lambda m: m.group() if knows(m[1]) else _read_acronym(m, shouting=shouting))


def _read_acronym(match: re.Match[str], *, shouting: bool) -> str:
    word, ending = match[1], match[2] or ""
    has_vowel = any(char in "AEIOUY" for char in word)
    no_word = not has_vowel and len(word) <= 6
    if word in _SPELLED or no_word or (len(word) <= 3 and not shouting and _is_acronym(word)):
        return " ".join(word) + ("'s" if ending else "")
    return _RESPELLED.get(word, word.capitalize()) + ending


def _is_acronym(word: str) -> bool:
    return word not in _SAID_AS_WORDS and word not in _ALSO_WORDS


def _spell_dotted(match: re.Match[str]) -> str:
    """Read "U.S." as "U S"; at the end of the text its last stop also ends the sentence."""
    letters = " ".join(match[1].replace(".", "").upper())
    return letters + ("" if match.string[match.end() :].strip() else ".")
