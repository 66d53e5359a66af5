"""English signs of sums and single signs."""

from __future__ import annotations

import pytest

from s2s.tts.text.english.signs import read_operators, read_signs
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5 != 3", "5 is not equal to 3"),
        ("a <= 5", "a at most 5"),
        (">= 3", "at least 3"),
        ("<5", "less than 5"),
        ("~5", "about 5"),
        ("5 * 3", "5 times 3"),
    ],
)
def test_an_operator_is_said(text: str, said: str) -> None:
    assert " ".join(rewritten(read_operators, text).split()) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("α", "alpha"),
        ("a × b", "a times b"),
        ("±", "plus or minus"),
        ("x = y", "x equals y"),
        ("₳", "austral"),
        ("50 ∞", "50 infinity"),
        ("@", "at"),
        ("&", "and"),
    ],
)
def test_a_single_sign_is_said(text: str, said: str) -> None:
    assert rewritten(read_signs, text).strip() == said
