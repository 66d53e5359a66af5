"""The rules of the five European languages in their order."""

from __future__ import annotations

import pytest

from s2s.tts.text.european.rules import read_european
from tests.support.rewriting import rewritten

pytest.importorskip("num2words")


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "5 €, 14:30, v2.1", "fünf Euro, vierzehn Uhr dreißig, Version zwei Punkt eins"),
        ("fr", "5 €, 14:30, v2.1", "cinq euros, quatorze heures trente, version deux point un"),
        ("es", "5 €, 14:30, v2.1", "cinco euros, catorce y treinta, versión dos punto uno"),
        ("it", "5 €, 14:30, v2.1", "cinque euro, quattordici e trenta, versione due punto uno"),
        ("pt", "5 €, 14:30, v2.1", "cinco euros, catorze e trinta, versão dois ponto um"),
        ("de", "S. 5", "Seite fünf"),
        ("de", "2-1", "zwei zu eins"),
        ("fr", "#3", "numéro trois"),
        ("it", "3,5", "tre virgola cinque"),
    ],
)
def test_one_rule_does_not_take_what_is_anothers(language: str, text: str, said: str) -> None:
    assert rewritten(read_european, text, language) == said
