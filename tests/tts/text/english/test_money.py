"""English amounts of money."""

from __future__ import annotations

import pytest

from s2s.tts.text.english.money import read_money
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$5", "five dollars"),
        ("$1", "one dollar"),
        ("$5.50", "five dollars and fifty cents"),
        ("$0.99", "ninety-nine cents"),
        ("£1.01", "one pound and one penny"),
        ("€1.2m", "one point two million euros"),
        ("5 €", "five euros"),
        ("USD 5", "five U S dollars"),
        ("$5-10", "five to ten dollars"),
        ("¥100", "one hundred yen"),
        ("50¢", "fifty cents"),
        ("$5 bill", "five dollar bill"),
        ("$1,000,000", "one million dollars"),
        ("$5k", "five thousand dollars"),
    ],
)
def test_an_amount_is_said(text: str, said: str) -> None:
    assert rewritten(read_money, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5 apples", "5 apples"),
        ("x$y", "x$y"),
        ("5%", "5%"),
    ],
)
def test_what_is_none_stays(text: str, said: str) -> None:
    assert rewritten(read_money, text) == said
