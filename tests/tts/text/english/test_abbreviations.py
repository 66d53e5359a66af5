"""English abbreviations written out."""

from __future__ import annotations

import pytest

from s2s.tts.text.english.abbreviations import read_abbreviations, read_initials
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Dr. Smith", "Doctor Smith"),
        ("Elm St.", "Elm Street."),
        ("e.g. this", "for example this"),
        ("approx. 5", "approximately 5"),
        ("etc.", "et cetera."),
        ("Mr. Jones vs. Mrs. Lee", "Mister Jones versus Missus Lee"),
        ("Thanks Dr. Jones", "Thanks Doctor Jones"),
        ("No. 5", "number 5"),
        ("Jan. 3", "January 3"),
        ("Prof. X", "Professor X"),
    ],
)
def test_an_abbreviation_is_written_out(text: str, said: str) -> None:
    assert rewritten(read_abbreviations, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("No.", "No."),
        ("Stop.", "Stop."),
        ("The dress", "The dress"),
    ],
)
def test_a_word_stays(text: str, said: str) -> None:
    assert rewritten(read_abbreviations, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("J. R. R. Tolkien", "J R R Tolkien"),
        ("John F. Kennedy", "John F Kennedy"),
        ("I. It", "I. It"),
    ],
)
def test_initials_have_no_full_stop(text: str, said: str) -> None:
    assert rewritten(read_initials, text) == said
