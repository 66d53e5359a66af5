"""Which words of a turn that is still going on are told as stable."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.stable import StableWords


def test_words_are_stable_once_two_hypotheses_agree() -> None:
    words = StableWords()
    assert words.push("turn of") == ""
    assert words.push("Turn off the") == "Turn"
    assert words.push("Turn off the light") == "Turn off the"


def test_case_and_punctuation_do_not_matter_and_the_first_agreed_form_stays() -> None:
    words = StableWords()
    words.push("hello.")
    assert words.push("Hello, world") == "Hello,"
    assert words.push("hello world") == "Hello, world"


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4).map(" ".join), max_size=8))
def test_what_is_stable_only_grows(heard: list[str]) -> None:
    words = StableWords()
    told = ""
    for text in heard:
        now = words.push(text)
        assert now.startswith(told)
        told = now
