"""Backchannels, orders to stop, and words with content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.turns.backchannels import (
    BACKCHANNELS,
    BRIEF,
    LANGUAGES,
    STOPS,
    classify,
    may_be_murmur,
)

NOISES = ["Mm-hmm.", "mhm", "Mmm", "Hmm.", "Uh-huh.", "Yeah.", "Right.", "Okay.", "Ah", "aha", "Oh"]


@pytest.mark.parametrize(
    "text",
    [*NOISES, "yeah, yeah", "Oh, I see.", "Oh wow", "All right, got it.", "Yeah, makes sense"],
)
@pytest.mark.parametrize("language", [None, "en"])
def test_listening_noises(text: str, language: str | None) -> None:
    assert classify(text, language) == "backchannel"


@pytest.mark.parametrize(
    "text", ["Stop.", "Stop!", "Okay, stop.", "Wait a minute.", "hold on", "Shut up", "no, stop"]
)
def test_stops(text: str) -> None:
    assert classify(text, "en") == "stop"


@pytest.mark.parametrize(
    "text",
    ["What about Paris?", "Yes, but why?", "No.", "How far is it", "stop the music in the kitchen"],
)
def test_content(text: str) -> None:
    assert classify(text, "en") == "content"


@pytest.mark.parametrize("text", ["", " ", "...", "(coughs)", "[Music]", "*sighs*", "♪ ♪", "?!"])
def test_nothing(text: str) -> None:
    assert classify(text) == "none"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_of_every_table_is_what_it_is(language: str) -> None:
    for phrase in BACKCHANNELS[language].split(","):
        assert classify(phrase.capitalize() + ".", language) == "backchannel", phrase
    for phrase in STOPS[language].split(","):
        assert classify(phrase, language) == "stop", phrase
        assert classify(phrase) == "stop", phrase


@pytest.mark.parametrize(
    ("text", "stable", "words"),
    [
        ("Ride", "", "none"),  # "right", not yet said to its end
        ("I sit", "I", "none"),  # "I see"
        ("Yeah", "", "backchannel"),
        ("Stop", "", "stop"),
        ("What about Mars", "What", "none"),
        ("What about Mars", "What about", "content"),
        ("Yeah, yo", "Yeah, yo", "none"),
    ],
)
def test_speech_that_goes_on_is_judged_by_what_will_not_change(
    text: str, stable: str, words: str
) -> None:
    assert classify(text, "en", stable=stable) == words


@pytest.mark.parametrize("text", ["Her.", "Amen.", "And?", "Go"])
def test_one_short_word_may_be_a_murmur(text: str) -> None:
    assert may_be_murmur(text)
    assert may_be_murmur(text, "en")


@pytest.mark.parametrize("text", ["Paris", "Go on Sunday", "", "不", "뭐", "Why?", "No!"])
def test_a_word_that_means_something_is_no_murmur(text: str) -> None:
    assert not may_be_murmur(text)


@pytest.mark.parametrize("language", BRIEF)
def test_brief_words_mean_something_in_their_language(language: str) -> None:
    for word in BRIEF[language].split(","):
        assert not may_be_murmur(word, language), word
        assert len(word) <= 4, word


def test_a_language_without_a_table_has_no_murmurs() -> None:
    assert not may_be_murmur("her", "ja")


def test_own_phrases_are_used() -> None:
    assert classify("roger that") == "content"
    assert classify("Roger that!", backchannels=["roger that"]) == "backchannel"
    assert classify("Banana", stops=["banana"]) == "stop"


@given(st.text(max_size=50), st.sampled_from([None, *LANGUAGES]))
def test_any_text_is_something(text: str, language: str | None) -> None:
    assert classify(text, language) in ("none", "backchannel", "stop", "content")
