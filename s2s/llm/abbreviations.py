"""Whether a full stop ends a sentence, in European languages. Pure."""

from __future__ import annotations

import re

_NEVER_LAST_WORDS = """
    mr mrs ms messrs dr prof st mt ft rev hon gen col maj capt cpt cmdr sgt lt gov sen rep pres
    ed eds trans vs cf ca approx est e.g i.e viz al resp
    ave blvd rd hwy dept univ assn bros gmbh
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri
    hr herr fr frau bzw z.b d.h u.a ca evtl ggf inkl str tel bspw sog zzgl abs
    jr sr inc ltd co corp
    m mm mme mlle mgr ste av p.ex c.-à-d env
    sr sra srta dña d.ª ud uds ee.uu p.ej
    sig sig.ra sig.na dott avv ing egr
    exmo exma dra dr.ª
"""
_NEVER_LAST = frozenset(_NEVER_LAST_WORDS.split())
"""Followed by what they belong to, nearly always."""

_BEFORE_NUMBER = frozenset(
    {
        "ch",
        "eq",
        "fig",
        "figs",
        "no",
        "nos",
        "nr",
        "n.º",
        "núm",
        "p",
        "pag",
        "pp",
        "pág",
        "sec",
        "vol",
    }
)
"""No end before a number, else a word like any other."""

_MAYBE_LAST = frozenset({"etc", "a.m", "p.m", "usw", "ecc", "b.c", "a.d"})
"""End a sentence before a capital."""

_WORD = re.compile(r"[\w.’'\-ªº]*$")
_INITIAL = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]$")
_LIST_NUMBER = re.compile(r"(?:\A|\n)[ \t>*_]*\d{1,3}$")


def ends_sentence(before: str, following: str) -> bool:
    """Whether the full stop after `before` ends a sentence that `following` would begin.

    Args:
        before: the response up to, not including, the full stop, or its last words.
        following: the first visible character after it, which is after a space.
    """
    word = _last_word(before)
    if not word:
        return not following.islower()
    if _LIST_NUMBER.search(before):
        return False
    plain = word.lower()
    if plain in _MAYBE_LAST:
        return following.isupper()
    if plain in _NEVER_LAST or (plain in _BEFORE_NUMBER and following.isdigit()):
        return False
    if _INITIAL.match(word) and not (len(word) == 1 and word.islower()):
        return _ends_with_i(before, word)
    if word.isdigit() and len(word) <= 2 and following.isalpha():
        return not _is_german_ordinal(before, following)
    return not following.islower() or len(word) >= 4


def _last_word(before: str) -> str:
    match = _WORD.search(before)
    return match.group().strip(".'’-") if match else ""


def _ends_with_i(before: str, word: str) -> bool:
    """Tell "So do I." from an initial: "J. Smith" and "U.S. troops" do not."""
    previous = before[: len(before) - len(word)].split()
    return word == "I" and bool(previous) and previous[-1].islower()


_BEFORE_ORDINAL = frozenset(
    {"ab", "am", "bis", "das", "dem", "den", "der", "des", "die", "im", "seit", "und", "vom", "zum"}
)


def _is_german_ordinal(before: str, following: str) -> bool:
    """Tell the ordinal in "am 3. Oktober" by the small word before it."""
    previous = before.split()[-2:-1]
    return following.isupper() and bool(previous) and previous[0].lower() in _BEFORE_ORDINAL
