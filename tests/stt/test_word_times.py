"""The times that recognisers tell, and the words of their texts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.base import TimedWord
from s2s.stt.word_times import LONGEST_TOKEN_S, fitted, of_tokens, shared, words_in


def timed(*words: tuple[str, float, float]) -> list[TimedWord]:
    return [TimedWord(*word) for word in words]


def test_what_is_a_word() -> None:
    assert words_in(" He was,  not ") == ["He", "was,", "not"]
    assert words_in("今天 OK吗") == ["今", "天", "OK", "吗"]


@given(st.text(st.characters(max_codepoint=0x2FFF)))
def test_words_stand_between_spaces(text: str) -> None:
    assert words_in(text) == text.split()


def test_a_text_has_punctuation_that_its_words_lack() -> None:
    told = timed(("Hello", 0.1, 0.4), ("world", 0.6, 1.0))
    assert fitted("Hello, world!", told) == (
        TimedWord("Hello,", 0.1, 0.4),
        TimedWord("world!", 0.6, 1.0),
    )


def test_a_taught_word_has_the_time_of_what_was_written_for_it() -> None:
    told = timed(("Ask", 0.0, 0.3), ("e", 0.4, 0.5), ("fa", 0.5, 0.8), ("now", 0.9, 1.2))
    assert fitted("Ask Aoife now", told)[1] == TimedWord("Aoife", 0.4, 0.8)


def test_a_word_more_lies_between_its_neighbours() -> None:
    told = timed(("he", 0.0, 0.3), ("goes", 0.7, 1.0))
    assert fitted("he — goes", told)[1] == TimedWord("—", 0.3, 0.7)
    assert fitted("oh he goes", told)[0] == TimedWord("oh", 0.0, 0.0)
    assert fitted("he goes on", told)[2] == TimedWord("on", 1.0, 1.0)
    assert [word.text for word in fitted("goes", told)] == ["goes"]
    assert fitted("goes", []) == ()


def test_a_recogniser_keeps_its_own_words_where_they_are_the_text() -> None:
    told = timed(("今天", 0.0, 0.4), ("好", 0.4, 0.6))
    assert fitted("今天好", told) == tuple(told)


def test_pieces_of_words_become_words() -> None:
    tokens = ["▁MA", "RY", " GO", "ES", "今", "天", "X"]
    starts = [0.1, 0.2, 0.5, 0.6, 2.0, 2.1, 2.2]
    assert of_tokens(tokens, starts, 2.3) == timed(
        ("MARY", 0.1, 0.5), ("GOES", 0.5, 0.6 + LONGEST_TOKEN_S), ("今", 2.0, 2.1),
        ("天", 2.1, 2.2), ("X", 2.2, 2.3),
    )  # fmt: skip
    assert of_tokens([" ", "A"], [0.0, 0.1], 0.2) == timed(("A", 0.1, 0.2))
    assert of_tokens([], [], 1.0) == []


words = st.lists(st.sampled_from(["a", "He", "was", "ill", "disposed,", "今", "—"]), max_size=8)
times = st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), min_size=8, max_size=8)


@given(words, words, times)
def test_every_word_of_the_text_is_there_in_order(
    told: list[str], said: list[str], times: list[tuple[float, float]]
) -> None:
    """Whatever was told."""
    heard = [TimedWord(word, *each) for word, each in zip(told, times, strict=False)]
    fit = fitted(" ".join(said), heard)
    assert [word.text for word in fit] == (said if told else [])
    assert all(word.start_s <= word.end_s for word in fit)
    assert all(one.start_s <= other.start_s for one, other in pairwise(fit))


@given(words, st.floats(0, 9), st.floats(0, 9))
def test_shared_time_is_all_of_it(said: list[str], start_s: float, lasts_s: float) -> None:
    fit = shared(" ".join(said), start_s, start_s + lasts_s)
    assert [word.text for word in fit] == said
    if fit:
        assert abs(fit[0].start_s - start_s) < 0.001
        assert abs(fit[-1].end_s - start_s - lasts_s) < 0.001
