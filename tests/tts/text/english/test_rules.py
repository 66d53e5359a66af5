"""The English rules in their order."""

from __future__ import annotations

import pytest

from s2s.tts.text.english.rules import read_english
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "It costs $5 at 5:30 pm on May 6, 2024.",
            "It costs five dollars at five thirty P M on May sixth, twenty twenty-four.",
        ),
        ("Dr. Smith ran 5 km in the U.S.", "Doctor Smith ran five kilometers in the U S."),
        ("Chapter IV costs 3/4 of $8.", "Chapter four costs three quarters of eight dollars."),
    ],
)
def test_one_rule_does_not_take_what_is_anothers(text: str, said: str) -> None:
    assert rewritten(read_english, text, lambda word: False) == said


def test_a_word_of_the_lexicon_is_left_to_it() -> None:
    assert rewritten(read_english, "the XKCD", lambda word: word == "XKCD") == "the XKCD"
    assert rewritten(read_english, "the XKCD", lambda word: False) == "the X K C D"
