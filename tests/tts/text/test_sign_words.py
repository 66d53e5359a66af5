"""How languages say the signs around numbers."""

from __future__ import annotations

from dataclasses import fields

import pytest

from s2s.tts.text.sign_words import DEFAULT, SIGN_WORDS, SignWords

LANGUAGES = sorted(SIGN_WORDS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_says_every_sign_without_signs(language: str) -> None:
    words = SIGN_WORDS[language]
    for field in fields(SignWords):
        said = str(getattr(words, field.name))
        assert said.strip(), field.name
        assert not set(said) & set("+×÷=≠≈≤≥<>√∛∞°%‰&@§∑∫"), (field.name, said)


def test_plus_and_minus_are_said_together() -> None:
    assert SIGN_WORDS["en"].plus_minus == "plus minus"
    assert DEFAULT.plus_minus
