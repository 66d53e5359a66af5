"""Which turns are only a stop phrase, in every language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.turns.backchannels import STOPS
from s2s.turns.orders.stop_phrase import only_stops

PHRASES = [(language, phrase) for language, row in STOPS.items() for phrase in row.split(",")]


@pytest.mark.parametrize(("language", "phrase"), PHRASES)
def test_every_phrase_of_every_table_stops(language: str, phrase: str) -> None:
    assert only_stops(phrase, "", language)
    assert only_stops(f"{phrase.capitalize()}!", "", language)
    assert only_stops(phrase, "", None)


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "pt", "nl", "pl"])
def test_stop_itself_does_in_every_language_of_the_assistant(language: str) -> None:
    assert only_stops("Stop.", "", language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Stop the music."),
        ("en", "The next stop is Boston."),
        ("en", "What happened then?"),
        ("en", ""),
        ("de", "Warte, ich habe noch eine Frage."),
        ("fr", "Arrête la musique."),
        ("es", "Un café para mí."),
        ("pt", "Isto é para você."),
    ],
)
def test_sentences_with_it_do_not(language: str, text: str) -> None:
    assert not only_stops(text, "", language)


def test_a_deployment_has_phrases_of_its_own() -> None:
    assert not only_stops("Basta cosi Jarvis", "", "en")
    assert only_stops("Basta cosi, Jarvis!", "", "en", ("basta cosi jarvis",))


@given(st.sampled_from(PHRASES), st.text(alphabet="abc ,.?", max_size=40))
def test_only_what_is_new_counts(phrase: tuple[str, str], before: str) -> None:
    language, words = phrase
    assert only_stops(f"{before} {words}", before, language)


def test_what_was_said_before_is_not_new() -> None:
    assert not only_stops("Tell me a story", "Tell me a story", "en")
    assert not only_stops("Tell me a story about ducks", "Tell me a story", "en")
    assert only_stops("Tell me a story stop", "Tell me a story", "en")
