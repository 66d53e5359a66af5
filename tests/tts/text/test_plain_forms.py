"""Characters that come in several forms have one."""

from __future__ import annotations

import pytest

from s2s.tts.text.plain_forms import plain_digits, plain_forms, squeeze
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ｆｕｌｌ", "full"),
        ("①②", "1 2"),
        ("❶ x", "1 x"),
        ("ﬁne", "fine"),
        ("a\u200bb", "ab"),
        ("“q”", '"q"'),
        ("𝐛𝐨𝐥𝐝", "bold"),
        ("Ⓐ", "A"),
    ],
)
def test_a_character_has_one_form(text: str, said: str) -> None:
    assert rewritten(plain_forms, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x½", "x½"),
        ("é", "é"),
        ("你好", "你好"),
        ("x²", "x²"),
        ("5 €", "5 €"),
    ],
)
def test_what_has_a_meaning_of_its_own_stays(text: str, said: str) -> None:
    assert rewritten(plain_forms, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("٣٤", "34"),
        ("३", "3"),
        ("5", "5"),
    ],
)
def test_digits_of_other_scripts_are_ours(text: str, said: str) -> None:
    assert rewritten(plain_digits, text) == said


def test_long_rows_of_nothing_are_shortened() -> None:
    assert len(rewritten(squeeze, "a" + 1000 * " " + "b")) < 50
    assert rewritten(squeeze, "a" + 1000 * "\n" + "b").count("\n") < 50
    assert rewritten(squeeze, "a b") == "a b"
