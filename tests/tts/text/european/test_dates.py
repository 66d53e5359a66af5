"""Dates and times of day in the five European languages."""

from __future__ import annotations

import pytest

from s2s.tts.text.european.dates import german_ordinal, read_dates, read_times
from s2s.tts.text.european.grammar import GRAMMARS
from s2s.tts.text.european.words import Words
from tests.support.rewriting import rewritten

pytest.importorskip("num2words")


def words(language: str) -> Words:
    return Words(language, GRAMMARS[language])


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "6.5.2024", "sechster Mai zweitausendvierundzwanzig"),
        ("de", "3. Mai 2024", "dritter Mai zweitausendvierundzwanzig"),
        ("fr", "3 mai 2024", "trois mai deux mille vingt-quatre"),
        ("fr", "06/05/2024", "six mai deux mille vingt-quatre"),
        ("es", "3 de mayo de 2024", "tres de mayo de dos mil veinticuatro"),
        ("it", "3 maggio 2024", "tre maggio duemilaventiquattro"),
        ("pt", "3 de maio de 2024", "três de maio de dois mil e vinte e quatro"),
        ("de", "2024-05-06", "sechster Mai zweitausendvierundzwanzig"),
        ("it", "2024-05-06", "sei maggio duemilaventiquattro"),
    ],
)
def test_a_date_is_said(language: str, text: str, said: str) -> None:
    assert rewritten(read_dates, text, words(language)) == said


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("es", "3 mai 2024", "3 mai 2024"),
        ("de", "3 maggio 2024", "3 maggio 2024"),
    ],
)
def test_a_date_of_another_language_is_none(language: str, text: str, said: str) -> None:
    assert rewritten(read_dates, text, words(language)) == said


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "14:30", "vierzehn Uhr dreißig"),
        ("de", "9:00 Uhr", "neun Uhr"),
        ("de", "1:00", "ein Uhr"),
        ("fr", "14:30", "quatorze heures trente"),
        ("fr", "1:00", "une heure"),
        ("fr", "8h15", "huit heures quinze"),
        ("es", "14:30", "catorce y treinta"),
        ("it", "8:15", "otto e quindici"),
        ("pt", "9:00", "nove horas"),
    ],
)
def test_a_time_of_day_is_said(language: str, text: str, said: str) -> None:
    assert rewritten(read_times, text, words(language), " - ") == said


@pytest.mark.parametrize(
    ("before", "said"),
    [("am ", "dritten"), ("der ", "dritte"), ("", "dritter"), ("ein ", "dritter")],
)
def test_a_german_ordinal_ends_as_the_words_before_it_ask(before: str, said: str) -> None:
    assert german_ordinal(words("de"), 3, before) == said
