"""What is said in place of an answer that cannot be said, in a language that the voice has."""

from __future__ import annotations

import pytest

from s2s.tts.unspoken import NO_ANSWER, ONLY_SHOWN, is_answer, unspoken_phrase


@pytest.mark.parametrize(
    ("text", "answer"), [("", False), ("... — !", False), ("x", True), ("7", True), ("😀", True)]
)
def test_dots_and_dashes_are_no_answer(text: str, answer: bool) -> None:
    assert is_answer(text) == answer


@pytest.mark.parametrize(
    ("heard", "supported", "language"),
    [
        ("de", ["en", "de"], "de"),
        ("de", ["en"], "en"),
        ("pt-BR", ["pt"], "pt"),
        (None, [], "en"),
        ("fr", [], "fr"),
    ],
)
def test_it_is_in_a_language_that_the_voice_has(
    heard: str | None, supported: list[str], language: str
) -> None:
    assert unspoken_phrase("", heard, supported) == (NO_ANSWER[language], language)
    assert unspoken_phrase("😀", heard, supported) == (ONLY_SHOWN[language], language)


def test_where_there_is_no_such_sentence_it_is_english() -> None:
    assert unspoken_phrase("", "xx", []) == (NO_ANSWER["en"], "xx")


def test_both_sentences_are_there_in_every_language() -> None:
    assert NO_ANSWER.keys() == ONLY_SHOWN.keys()
    assert len({*NO_ANSWER.values(), *ONLY_SHOWN.values()}) == 2 * len(NO_ANSWER)
