"""Amounts in the five European languages."""

from __future__ import annotations

import pytest

from s2s.tts.text.european.amounts import Amounts
from s2s.tts.text.european.grammar import GRAMMARS
from s2s.tts.text.european.words import Words
from tests.support.rewriting import rewritten

pytest.importorskip("num2words")


def amounts(language: str) -> Amounts:
    return Amounts(Words(language, GRAMMARS[language]))


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "5 €", "fünf Euro"),
        ("de", "1,50 €", "ein Euro fünfzig"),
        ("de", "1 €", "ein Euro"),
        ("de", "5 Mio. €", "fünf Millionen Euro"),
        ("de", "3 m²", "drei Quadratmeter"),
        ("de", "100 km/h", "einhundert Kilometer pro Stunde"),
        ("de", "1/2", "ein halb"),
        ("de", "2²", "2 hoch zwei"),
        ("fr", "5 €", "cinq euros"),
        ("fr", "1,50 €", "un euro cinquante"),
        ("fr", "50 %", "cinquante pour cent"),
        ("fr", "3 m²", "trois mètres carrés"),
        ("fr", "2²", "2 au carré"),
        ("es", "10 km", "diez kilómetros"),
        ("es", "1,50 €", "un euro con cincuenta"),
        ("es", "100 km/h", "cien kilómetros por hora"),
        ("es", "½", "un medio"),
        ("it", "5 €", "cinque euro"),
        ("it", "3 x", "tre volte"),
        ("it", "100 km/h", "cento chilometri all'ora"),
        ("it", "3:2", "tre a due"),
        ("pt", "50 %", "cinquenta por cento"),
        ("pt", "10 km", "dez quilômetros"),
        ("pt", "3 m²", "três metros quadrados"),
    ],
)
def test_an_amount_is_said(language: str, text: str, said: str) -> None:
    assert rewritten(amounts(language).read, text) == said


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "der €", "der Euro"),
        ("fr", "les €", "les euros"),
        ("it", "gli €", "gli euro"),
    ],
)
def test_a_sign_alone_is_said(language: str, text: str, said: str) -> None:
    assert rewritten(amounts(language).read_alone, text) == said


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "um 14:30", "um 14:30"),
        ("fr", "à 14:30", "à 14:30"),
    ],
)
def test_a_ratio_is_known_by_the_word_before_it(language: str, text: str, said: str) -> None:
    assert rewritten(amounts(language).read_ratios, text) == said
