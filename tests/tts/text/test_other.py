"""Languages without rules of their own."""

from __future__ import annotations

import pytest

from s2s.tts.text.other import read_other
from tests.support.rewriting import rewritten

pytest.importorskip("num2words")


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("ru", "12.5 %", "двенадцать запятая пять процентов"),
        ("ru", "5 €", "пять евро"),
        ("ru", "2024-05-06", "шестое мая две тысячи двадцать четыре"),
        ("nl", "10 km", "tien kilometer"),
        ("nl", "2.10.1", "twee punt tien punt één"),
        ("nl", "x²", "x kwadraat"),
        ("pl", "3 × 4", "trzy razy cztery"),
        ("pl", "1.000.000", "milion"),
        ("tr", "12.5 %", "yüzde oniki virgül beş"),
    ],
)
def test_numbers_and_signs_are_words(language: str, text: str, said: str) -> None:
    assert rewritten(read_other, text, language).strip() == said


@pytest.mark.parametrize("text", ["5 €", "50 %"])
def test_without_number_words_no_sign_stays_bare(text: str) -> None:
    assert not set(rewritten(read_other, text, "sw")) & set("€%")
