"""Number words of the five European languages."""

from __future__ import annotations

import pytest

from s2s.tts.text.european.grammar import GRAMMARS
from s2s.tts.text.european.words import Words, of, split_number, words_of

pytest.importorskip("num2words")


def words(language: str) -> Words:
    return Words(language, GRAMMARS[language])


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "3,14", "drei Komma eins vier"),
        ("de", "1.234,5", "eintausendzweihundertvierunddreißig Komma fünf"),
        ("fr", "3,14", "trois virgule quatorze"),
        ("es", "3,14", "tres coma catorce"),
        ("it", "1.234,5", "milleduecentotrentaquattro virgola cinque"),
        ("pt", "3,14", "três vírgula catorze"),
    ],
)
def test_a_number_is_said(language: str, text: str, said: str) -> None:
    assert words(language).number(text) == said


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "1989", "neunzehnhundertneunundachtzig"),
        ("fr", "1989", "mille neuf cent quatre-vingt-neuf"),
        ("it", "1989", "millenovecentottantanove"),
    ],
)
def test_a_year_is_said(language: str, text: str, said: str) -> None:
    assert words(language).year(text) == said


def test_an_ordinal_has_a_gender() -> None:
    assert words("es").ordinal(2) == "segundo"
    assert words("es").ordinal(2, feminine=True) == "segunda"
    assert words("fr").ordinal(21) == "vingt et unième"
    assert words("de").ordinal(21) == "einundzwanzigste"


@pytest.mark.parametrize(
    ("language", "one", "many"),
    [
        ("de", "eine Sekunde", "einundzwanzig Sekunden"),
        ("fr", "une seconde", "vingt et une secondes"),
        ("es", "un segundo", "veintiún segundos"),
        ("it", "un secondo", "ventun secondi"),
        ("pt", "um segundo", "vinte e um segundos"),
    ],
)
def test_one_takes_the_gender_of_what_it_counts(language: str, one: str, many: str) -> None:
    first, several, _ = GRAMMARS[language].seconds
    assert words(language).counted(1, first, several) == one
    assert words(language).counted(21, first, several) == many


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1.234,5", ("1234", "5")),
        ("1,234.5", ("1234", "5")),
        ("1,5", ("1", "5")),
        ("7", ("7", "")),
    ],
)
def test_a_number_has_a_whole_part_and_a_fraction(text: str, parts: tuple[str, str]) -> None:
    assert split_number(text) == parts


def test_digits_and_joints() -> None:
    assert words("de").digits("407") == "vier null sieben"
    assert of(" de ", "grammes") == " de grammes"


def test_a_language_that_is_not_known_has_no_words() -> None:
    assert words_of(5, "xx") is None
    assert words_of(3, "fr", "ordinal") == "troisième"
