"""Chinese and Japanese numbers, dates and money."""

from __future__ import annotations

import pytest

from s2s.tts.text.han.rules import read_han
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("zh", "2024-05-06", "二零二四年五月六日"),
        ("zh", "14:30", "十四点三十分"),
        ("zh", "5%", "百分之五"),
        ("zh", "$5", "五美元"),
        ("zh", "3 km", "三公里"),
        ("zh", "1/2", "二分之一"),
        ("zh", "第II次", "第二次"),
        ("zh", "3-5个", "三到五个"),
        ("zh", "2个", "两个"),
        ("zh", "x²", "x的平方"),
        ("zh", "¥100", "一百元"),
        ("ja", "2024-05-06", "二千二十四年五月六日"),
        ("ja", "14:30", "十四時三十分"),
        ("ja", "5%", "五パーセント"),
        ("ja", "$5", "五ドル"),
        ("ja", "3 km", "三キロメートル"),
        ("ja", "1/2", "二分の一"),
        ("ja", "1e6", "一かける十の六乗"),
        ("ja", "¥100", "百円"),
    ],
)
def test_it_is_said(language: str, text: str, said: str) -> None:
    assert rewritten(read_han, text, language) == said
