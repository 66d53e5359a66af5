"""What signs are left after the numbers."""

from __future__ import annotations

import pytest

from s2s.tts.text.sign_words import SIGN_WORDS
from s2s.tts.text.signs import GREEK, read_signs
from tests.support.rewriting import rewritten


def said(text: str, language: str) -> str:
    spaced = language != "zh"
    return rewritten(read_signs, text, SIGN_WORDS[language], spaced=spaced).strip()


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "a = b", "a equals b"),
        ("en", "x ≤ y", "x at most y"),
        ("en", "a × b", "a times b"),
        ("en", "(−x)", "(minus x)"),
        ("de", "a & b", "a und b"),
        ("de", "√x", "Wurzel aus x"),
        ("fr", "≠", "différent de"),
        ("fr", "§", "paragraphe"),
        ("zh", "a = b", "a等于b"),
        ("zh", "√x", "根号x"),
    ],
)
def test_a_sign_is_said(language: str, text: str, words: str) -> None:
    assert said(text, language) == words


@pytest.mark.parametrize("letter", sorted(GREEK))
def test_a_greek_letter_has_its_name(letter: str) -> None:
    for language in ("en", "de", "fr"):
        assert said(f"a {letter} b", language).split()[0] == "a"
        assert letter not in said(f"a {letter} b", language)
