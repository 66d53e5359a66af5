"""Which word is heard when. Exact: from the durations that the voice itself predicted.

The one thing to find out is which phonemes a word became. eSpeak NG joins words ("of the" is one)
and splits them ("1999" is three), so words are found again by what they sound like on their own.
Knows nothing about models.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_SILENT = set(" ˈˌːˑ.,;:!?…-()\"'“”‘’\u0329\u032f\u032a\u0303")
"""Stress, length and punctuation: they change with the neighbours and do not tell words apart."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text and where it is heard."""

    start_char: int
    end_char: int
    start_sample: int
    end_sample: int


def word_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of each run of characters without spaces that holds a letter or digit."""
    return [
        match.span()
        for match in re.finditer(r"\S+", text)
        if any(unicodedata.category(c)[0] in "LN" for c in match.group())
    ]


def assign_words(
    phonemes: Sequence[str], words: Sequence[str], sound_of: Callable[[str], str]
) -> list[int]:
    """The word that each phoneme belongs to: never decreasing, as long as `phonemes`.

    Args:
        phonemes: of the whole text, in order, one symbol each.
        words: of the same text, in order; at least one.
        sound_of: the phonemes of a word on its own.
    """
    heard = [(i, symbol) for i, symbol in enumerate(phonemes) if symbol not in _SILENT]
    alone: list[tuple[int, str]] = []
    for index, word in enumerate(words):
        alone.extend((index, symbol) for symbol in sound_of(word) if symbol not in _SILENT)
    owners = _matched([s for _, s in alone], [s for _, s in heard], [w for w, _ in alone])
    by_phoneme: list[int | None] = [None] * len(phonemes)
    for (position, _), owner in zip(heard, owners, strict=True):
        by_phoneme[position] = owner
    return _filled(by_phoneme, phonemes)


def _matched(alone: list[str], heard: list[str], owners: list[int]) -> list[int]:
    """For each heard phoneme the owner of the one it matches, or in proportion in between."""
    if not alone:
        return [0] * len(heard)
    matcher = SequenceMatcher(a=alone, b=heard, autojunk=False)
    result: list[int] = []
    done_a = 0
    for start_a, start_b, length in matcher.get_matching_blocks():
        gap, missing = start_b - len(result), start_a - done_a
        for k in range(gap):
            position = done_a + (k * missing) // gap
            result.append(owners[min(position, len(owners) - 1)])
        result.extend(owners[start_a : start_a + length])
        done_a = start_a + length
    return result


def _filled(owners: Sequence[int | None], phonemes: Sequence[str]) -> list[int]:
    """Silent symbols go with the word before, stress marks and spaces' successors with the next."""
    filled: list[int] = []
    for index, owner in enumerate(owners):
        if owner is None:
            ahead = next((o for o in owners[index:] if o is not None), None)
            behind = filled[-1] if filled else 0
            leads = phonemes[index] in ("ˈ", "ˌ", "(", '"', "“", "‘")
            owner = ahead if leads and ahead is not None else behind
        filled.append(max(owner, filled[-1]) if filled else owner)
    return filled
