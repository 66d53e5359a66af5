"""The tokenizer as tables. That C makes the same tokens of them: ../native/test_speech.py."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from s2s.tts.qwen3.errors import ConvertError
from s2s.tts.qwen3.text.text_tables import token_tables, unicode_tables
from s2s.tts.qwen3.text.tokenizer import Tokenizer, byte_characters, class_of

CHARACTERS = "aZ9½é한\u0301中\u00aa٣Ⅷ'- \U0001f600\U00020000"


def test_a_class_is_that_of_the_range_it_lies_in() -> None:
    begins, classes = unicode_tables()["unicode.classes"].T
    assert (np.diff(begins) > 0).all()
    for character in CHARACTERS:
        found = chr(classes[np.searchsorted(begins, ord(character), "right") - 1])
        wanted = class_of(character)
        assert found == (wanted if wanted in "LN" else "O")


def test_what_is_composed_is_decomposed_again() -> None:
    tables = unicode_tables()
    parts = {row[0]: tuple(row[1:]) for row in tables["unicode.decompositions"].tolist()}
    compositions = tables["unicode.compositions"].tolist()
    assert compositions == sorted(compositions)
    for first, second, both in compositions:
        assert parts[both] == (first, second)
    assert [ord("e"), 0x301, ord("é")] in compositions
    assert parts[0x0958] == (0x0915, 0x093C)  # is decomposed, and never composed again
    assert not any(both == 0x0958 for *_, both in compositions)
    marks = dict(tables["unicode.combining"].tolist())
    assert marks[0x301] == unicodedata.combining("\u0301")


def tokenizer(**vocabulary: int) -> Tokenizer:
    known = {character: at for at, character in enumerate(byte_characters())}
    return Tokenizer(
        {**known, "ab": 300, "abc": 301, **vocabulary},
        [("a", "b"), ("ab", "c"), ("x", "unknown")],
        {"<a>": 400, "<longer>": 401},
    )


def test_merges_are_sorted_and_know_their_rank() -> None:
    tables = token_tables(tokenizer(xunknown=302).parts)
    a, b, c = (byte_characters().index(letter) for letter in "abc")
    assert tables["tokens.merges"].tolist() == sorted([[a, b, 0, 300], [300, c, 1, 301]])
    assert tables["tokens.bytes"].tolist() == list(range(256))
    assert bytes(tables["tokens.added.text"].tolist()) == b"<longer><a>"
    assert tables["tokens.added.ends"].tolist() == [8, 11]
    assert tables["tokens.added.ids"].tolist() == [401, 400]


def test_two_tokens_of_one_id_are_refused() -> None:
    with pytest.raises(ConvertError, match="same id"):
        token_tables(tokenizer(ab=301, xunknown=302).parts)
