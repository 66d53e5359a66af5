"""Taught words: found by letters and sound, changed only where the recogniser agrees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.taught_words import TaughtWords, hint, likeness, sounds


def test_what_sounds_like_a_taught_word_is_found() -> None:
    taught = TaughtWords(["Dashwood", "ill disposed"])
    (one,) = taught.proposals("And Mr. John Gashwood had been here.")
    assert ("And Mr. John Gashwood had"[one.start : one.end], one.word) == ("Gashwood", "Dashwood")
    assert taught.corrected("He is an ill-sposed man.") == "He is an ill disposed man."
    assert taught.corrected("ill-disposed, ill disposed.") == "ill disposed, ill disposed."


@pytest.mark.parametrize("text", ["", "Good morning to you.", "The old man would go.", "..."])
def test_what_does_not_sound_alike_is_not(text: str) -> None:
    assert TaughtWords(["Dashwood", "Nguyen", "ill disposed"]).corrected(text) == text


def test_short_words_must_sound_the_same() -> None:
    assert TaughtWords(["Ann"]).corrected("an on in and") == "Ann on in and"


def test_how_a_word_sounds_may_be_told() -> None:
    taught = TaughtWords(["Aoife=eefa", "Nguyễn = win"])
    asked: list[str] = []

    def agrees(before: str, after: str) -> bool:
        asked.append(after)
        return True

    assert taught.corrected("Call Efa and Wynn.", agrees) == "Call Aoife and Nguyễn."
    assert asked == ["Call Efa and win.", "Call eefa and Wynn."]


def test_the_recogniser_decides() -> None:
    assert TaughtWords(["Mann"]).corrected("a man", lambda before, after: False) == "a man"


def test_of_two_that_overlap_the_more_alike_is_taken() -> None:
    taught = TaughtWords(["Dash Wood", "Dashwood"])
    assert taught.corrected("Mr. Dachwood.") in ("Mr. Dashwood.", "Mr. Dash Wood.")
    assert len(taught.proposals("Mr. Dachwood.")) == 1


@pytest.mark.parametrize("entry", ["", " ", "...", "=sound", "="])
def test_a_word_without_letters_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="needs letters"):
        TaughtWords([entry])


def test_whisper_reads_them_before_the_text() -> None:
    assert hint(["Aoife=eefa", "ill disposed"]) == "Aoife, ill disposed."
    assert hint([]) is None


def test_sounds() -> None:
    assert sounds("Philipp") == sounds("filip")
    assert sounds("Schäfer") == sounds("shafer")
    assert sounds("北京") == "北京"


words = st.text("abcdefghijklmnopqrstuvwxyzäé ", min_size=1, max_size=12)


@given(words, words)
def test_likeness_is_a_likeness(one: str, other: str) -> None:
    alike = likeness(sounds(one), sounds(other))
    assert 0.0 <= alike <= 1.0
    assert alike == pytest.approx(likeness(sounds(other), sounds(one)))
    assert likeness(sounds(one), sounds(one)) == (1.0 if sounds(one) else 0.0)


@given(
    st.lists(words.filter(lambda word: any(map(str.isalpha, word.replace("h", "")))), max_size=3),
    words,
)
def test_nothing_else_is_changed(taught: list[str], text: str) -> None:
    """What a recogniser does not agree to is not changed, and proposals lie in the text."""
    finder = TaughtWords(taught)
    assert finder.corrected(text, lambda before, after: False) == text
    for each in finder.proposals(text):
        assert 0 <= each.start < each.end <= len(text)
