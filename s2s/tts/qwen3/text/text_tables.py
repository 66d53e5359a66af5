"""The tokenizer as tables of numbers, for a program that has neither JSON nor Unicode: what
native/speech/tokenizer.h and unicode.h read."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.errors import ConvertError
from s2s.tts.qwen3.text.tokenizer import TokenizerParts, byte_characters, class_of

Ints = npt.NDArray[np.int32]

_SURROGATES = range(0xD800, 0xE000)


def token_tables(parts: TokenizerParts) -> dict[str, npt.NDArray[np.generic]]:
    """By the names of the file's sections. Raises ConvertError for a vocabulary in which two tokens
    have one id: merges are looked up by id there."""
    vocabulary = parts.vocabulary
    merges = sorted(
        (vocabulary[left], vocabulary[right], rank, vocabulary[left + right])
        for (left, right), rank in parts.ranks.items()
        if left in vocabulary and right in vocabulary
    )
    symbols = {*byte_characters(), *(left + right for left, right in parts.ranks)}
    if len({vocabulary[symbol] for symbol in symbols}) < len(symbols):
        raise ConvertError("two tokens of vocab.json have the same id: fetch the tokenizer again")
    added = [token.encode() for token in parts.added]
    return {
        "tokens.bytes": _ints(vocabulary[character] for character in byte_characters()),
        "tokens.merges": np.array(merges, np.int32).reshape(-1, 4),
        "tokens.added.ids": _ints(parts.added.values()),
        "tokens.added.ends": np.cumsum([len(text) for text in added]).astype(np.int32),
        "tokens.added.text": np.frombuffer(b"".join(added), np.uint8),
    }


@lru_cache(maxsize=1)
def unicode_tables() -> dict[str, Ints]:
    """Of this Python's Unicode, by the names of the file's sections."""
    classes: list[tuple[int, int]] = []
    combining: list[tuple[int, int]] = []
    decompositions: list[tuple[int, int, int]] = []
    compositions: list[tuple[int, int, int]] = []
    for code in range(1, sys.maxunicode + 1):
        if code in _SURROGATES:
            continue
        character = chr(code)
        kind = class_of(character)
        kind = ord(kind) if kind in "LN" else ord("O")
        if not classes or classes[-1][1] != kind:
            classes.append((code, kind))
        if mark := unicodedata.combining(character):
            combining.append((code, mark))
        made_of = unicodedata.decomposition(character)
        if not made_of or made_of.startswith("<"):
            continue
        first, second = [*(int(part, 16) for part in made_of.split()), 0][:2]
        decompositions.append((code, first, second))
        if second and unicodedata.normalize("NFC", chr(first) + chr(second)) == character:
            compositions.append((first, second, code))
    return {
        "unicode.classes": np.array(classes, np.int32),
        "unicode.combining": np.array(combining, np.int32),
        "unicode.decompositions": np.array(decompositions, np.int32),
        "unicode.compositions": np.array(sorted(compositions), np.int32),
    }


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int32)
