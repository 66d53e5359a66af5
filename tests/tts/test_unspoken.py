"""What is said in place of an answer that cannot be said, in a language that the voice has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from s2s.core.messages import AudioOut, ResponseId, SignKind, SignOfLife, TtsInput
from s2s.tts.unspoken import (
    NO_ANSWER,
    ONLY_SHOWN,
    RING_LEVEL,
    SIGN_LEVEL,
    Signs,
    is_answer,
    ring_tone,
    sign_phrase,
    sign_tone,
    unspoken_phrase,
)


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


def test_a_sign_of_life_is_said_in_a_language_of_the_voice() -> None:
    assert sign_phrase("de-CH", ("en", "de")) == "Einen Moment."
    assert sign_phrase("fr", ("en", "de")) == "One moment."
    assert sign_phrase(None, ()) == "One moment."
    assert sign_phrase("fi", ("fi",)) is None


def test_a_sign_of_life_without_words_is_short_and_soft_and_ends_in_silence() -> None:
    response = ResponseId("t", 0, 0, "r")
    blocks = list(sign_tone(response, 24_000))
    sound = np.concatenate([block.block for block in blocks])
    assert {(block.response, block.text) for block in blocks} == {(response, "")}
    assert {len(block.block) for block in blocks} == {512}
    assert 0.03 < np.abs(sound).max() <= SIGN_LEVEL + 1e-6
    assert 0.2 < len(sound) / 24_000 < 0.3
    assert max(abs(sound[0]), abs(sound[-1])) < 1e-3


def test_words_are_said_once_for_each_answer_and_tones_as_often_as_wanted() -> None:
    said: list[str] = []

    def speak(note: TtsInput) -> Iterator[AudioOut]:
        said.append(note.text)
        return iter(())

    def give(signs: Signs, key: str, kind: SignKind) -> int:
        return len(list(signs.of(SignOfLife(ResponseId("t", 0, 0, key), "de", kind), speak)))

    tones = Signs("sound", ("de", "en"), 24_000)
    assert give(tones, "one", "usual") == give(tones, "one", "usual") > 0
    assert give(tones, "one", "words") == give(tones, "one", "words") == 0
    assert said == ["Einen Moment."]
    give(tones, "two", "words")
    assert len(said) == 2
    words = Signs("words", ("en",), 24_000)
    give(words, "three", "usual")
    give(words, "three", "words")
    assert said[2:] == ["One moment."]
    assert give(Signs("words", ("xx",), 24_000), "four", "words") > 0, "no words: the tones"


def test_a_ring_is_heard_and_ends_in_silence() -> None:
    blocks = list(ring_tone(ResponseId("t", 0, 0, "r"), 24_000))
    sound = np.concatenate([block.block for block in blocks])
    assert 1.5 < len(sound) / 24_000 < 2.5
    assert 0.5 * RING_LEVEL < float(np.abs(sound).max()) <= RING_LEVEL
    assert float(np.abs(sound[-512:]).max()) == 0.0
    assert {block.text for block in blocks} == {""}
