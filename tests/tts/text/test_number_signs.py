"""Which dash is the sign of a number."""

from __future__ import annotations

import pytest

from s2s.tts.text.number_signs import mark_signs
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-5 degrees", "−5 degrees"),
        ("It is -3", "It is −3"),
        ("(+/- 2)", "(±2)"),
        ("+-3", "±3"),
        ("$-5", "−$5"),
        ("-$5", "−$5"),
        ("x - 3", "x − 3"),
        ("5 - -3", "5 - −3"),
        ("f: -2", "f: −2"),
    ],
)
def test_a_sign_is_marked(text: str, said: str) -> None:
    assert rewritten(mark_signs, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a-b", "a-b"),
        ("3-5", "3-5"),
        ("covid-19", "covid-19"),
        ("well - 5", "well - 5"),
        ("--5", "--5"),
        ("- an item", "- an item"),
    ],
)
def test_another_dash_stays(text: str, said: str) -> None:
    assert rewritten(mark_signs, text) == said
