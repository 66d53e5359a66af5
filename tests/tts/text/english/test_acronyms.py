"""English acronyms: spelled, or said as a word."""

from __future__ import annotations

import pytest

from s2s.tts.text.english.acronyms import read_acronyms
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the FBI", "the F B I"),
        ("NASA", "Nasa"),
        ("the U.S. is", "the U S is"),
        ("U.K.", "U K."),
        ("an HTTP server", "an H T T P server"),
        ("AI", "A I"),
        ("READ THIS NOW", "Read This Now"),
        ("KNOWN", "KNOWN"),
        ("I am", "I am"),
        ("A house", "A house"),
    ],
)
def test_letters_are_spelled_unless_they_are_a_word(text: str, said: str) -> None:
    assert rewritten(read_acronyms, text, lambda word: word == "KNOWN") == said
