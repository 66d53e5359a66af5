"""The assistant's own words, told from the person's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.session.own_words import alike, is_echo, other_words

SPOKEN = (
    "The capital of France is Paris. It lies on the Seine, and about two million people live "
    "there. You can stop me at any time."
)


@pytest.mark.parametrize(
    "text",
    [
        "The capital of France is Paris.",
        "capital of Frances Paris",
        "two million people live there",
        "lies on the sane and about two million people",
    ],
)
def test_own_words_are_recognised(text: str) -> None:
    assert is_echo(text, SPOKEN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Stop.",
        "stop me",
        "What is the capital of Italy?",
        "How many people live in Berlin?",
        "Okay, and what about the river?",
        "Can you tell me the time in Paris, please?",
    ],
)
def test_the_person_is_not_taken_for_echo(text: str) -> None:
    assert not is_echo(text, SPOKEN)


def test_languages_without_spaces() -> None:
    assert is_echo("法国的首都", "法国的首都是巴黎。")
    assert not is_echo("今天天气怎么样", "法国的首都是巴黎。")


@given(st.text(max_size=80))
def test_everything_of_three_words_said_is_echo_of_itself(text: str) -> None:
    three = text + " one two three"
    assert is_echo(three, three)
    assert not is_echo(three, "")


# --- without them --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heard", "others"),
    [
        ("The capital of France is Paris.", ""),
        ("capital of Frances Paris", ""),
        ("lies on the sane and about two million people", ""),
        ("people live there. What about Rome?", "What about Rome"),
        ("Rome, please. It lies on the", "Rome please"),
        ("live there what about Rome that it lies on", "what about Rome that"),
        ("lies on the Seine and a bowl", ""),
        ("What is the weather like?", "What is the weather like?"),
        ("", ""),
    ],
)
def test_what_comes_beside_the_own_words_remains(heard: str, others: str) -> None:
    assert other_words(heard, SPOKEN) == others


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_remains_was_heard(heard: str, spoken: str) -> None:
    kept = other_words(heard, spoken)
    assert kept == heard or all(word in heard for word in kept.split())


@given(st.lists(st.sampled_from(["one", "two", "three", "four", "five"]), max_size=12))
def test_of_own_words_nothing_remains(words: list[str]) -> None:
    text = " ".join(words)
    assert other_words(text, text) == ""


def test_words_that_a_recogniser_confuses_are_alike() -> None:
    assert alike("france", "frances")
    assert alike("reply", "reply")
    assert alike("sentence", "sentences")
    assert not alike("stop", "step up")
    assert not alike("the", "then")
    assert not alike("wrong", "right")
