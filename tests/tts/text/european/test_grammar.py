"""The tables of the five European languages are whole."""

from __future__ import annotations

import pytest

from s2s.tts.text.european.grammar import GRAMMARS

LANGUAGES = ("de", "fr", "es", "it", "pt")


def test_there_are_five() -> None:
    assert set(GRAMMARS) == set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_its_months_parts_units_and_currencies(language: str) -> None:
    grammar = GRAMMARS[language]
    assert len(set(grammar.months)) == 12
    assert {2, 3, 4} <= set(grammar.parts)
    assert {"km", "kg", "l", "h"} <= set(grammar.units)
    assert {"EUR", "USD", "GBP"} <= set(grammar.currencies)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_noun_is_one_and_many(language: str) -> None:
    for nouns in (GRAMMARS[language].units, GRAMMARS[language].currencies):
        for sign, noun in nouns.items():
            assert len(noun) == 3, sign
            assert " " in noun[0] or "'" in noun[0], f"{sign}: one of it has an article"
            assert noun[1].strip(), sign
