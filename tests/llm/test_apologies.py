"""A failure is told in the person's language."""

from __future__ import annotations

import pytest

from s2s.llm.apologies import NO_ANSWER, NOT_HEARD, apology
from s2s.tts.text import speakable


@pytest.mark.parametrize(
    ("language", "spoken"),
    [("de", "de"), ("pt-BR", "pt"), ("DE", "de"), (None, "en"), ("", "en"), ("sw", "en")],
)
def test_it_is_in_the_persons_language_or_english(language: str | None, spoken: str) -> None:
    assert apology(NOT_HEARD, language) == (NOT_HEARD[spoken], spoken)


@pytest.mark.parametrize(
    ("language", "voice", "spoken"),
    [
        ("de", ("en", "de"), "de"),
        ("fr", ("en", "de"), "en"),
        ("fr", ("de",), "de"),
        (None, ("de",), "de"),
        ("fr", ("sw",), "en"),
    ],
)
def test_it_is_said_in_a_language_that_the_voice_has(
    language: str | None, voice: tuple[str, ...], spoken: str
) -> None:
    assert apology(NO_ANSWER, language, voice) == (NO_ANSWER[spoken], spoken)


def test_both_are_there_in_the_same_languages_and_spoken_as_they_are_written() -> None:
    assert NOT_HEARD.keys() == NO_ANSWER.keys()
    for phrases in (NOT_HEARD, NO_ANSWER):
        for language, text in phrases.items():
            assert speakable(text, language).text == text
