"""Ordinals and Roman numerals in the five European languages."""

from __future__ import annotations

import pytest

from s2s.tts.text.european.grammar import GRAMMARS
from s2s.tts.text.european.ordinals import read_ordinals, read_romans
from s2s.tts.text.european.words import Words
from tests.support.rewriting import rewritten

pytest.importorskip("num2words")


def words(language: str) -> Words:
    return Words(language, GRAMMARS[language])


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "am 3. Mai", "am dritten Mai"),
        ("de", "der 2. Platz", "der zweite Platz"),
        ("de", "die 90er", "die neunziger"),
        ("fr", "1er", "premier"),
        ("fr", "2e", "deuxième"),
        ("es", "3º", "tercero"),
        ("es", "3ª", "tercera"),
        ("it", "3º", "terzo"),
        ("it", "3ª", "terza"),
        ("pt", "3º", "terceiro"),
        ("pt", "3ª", "terceira"),
    ],
)
def test_an_ordinal_is_said(language: str, text: str, said: str) -> None:
    assert rewritten(read_ordinals, text, words(language)) == said


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "Ludwig XIV.", "Ludwig der Vierzehnte."),
        ("fr", "Louis XIV", "Louis quatorze"),
        ("es", "Felipe II", "Felipe segundo"),
        ("es", "siglo XIX", "siglo 19"),
        ("it", "Giovanni XXIII", "Giovanni ventitreesimo"),
        ("it", "XX secolo", "ventesimo secolo"),
        ("pt", "Pedro II", "Pedro segundo"),
        ("de", "Kapitel IV", "Kapitel 4"),
        ("de", "Vitamin C", "Vitamin C"),
    ],
)
def test_a_ruler_has_its_number(language: str, text: str, said: str) -> None:
    assert rewritten(read_romans, text, words(language)) == said
