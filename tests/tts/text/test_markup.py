"""Markup is taken out; what it says stays, and lines become sentences."""

from __future__ import annotations

import pytest

from s2s.tts.text.markup import strip_markup
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("**bold** and *it*", "bold and it"),
        ("- one\n- two", "one. two"),
        ("1. one\n2. two", "1, one. 2, two"),
        ("[a](http://x)", "a"),
        ("![cat](c.png)", "cat"),
        ("`code_name()`", "code_name"),
        ("```py\nx\n```\nafter", "after"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a, b. 1, 2"),
        ("> quote", "quote"),
        ("a<br>b", "a b"),
        ("x<sup>2</sup>", "x²"),
        ("&amp; &euro;", "& €"),
        ("done :)", "done"),
        ("~~no~~ yes", "no yes"),
        ("[1] cited", "cited"),
        ("---", ""),
        ("text[^1] more\n\n[^1]: note", "text more."),
        ("# Title", "Title"),
    ],
)
def test_what_is_for_the_eye_goes(text: str, said: str) -> None:
    assert rewritten(strip_markup, text).strip() == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a line\nand on", "a line and on"),
        ("A sentence.\nNext", "A sentence. Next"),
    ],
)
def test_lines_are_sentences_unless_they_go_on(text: str, said: str) -> None:
    assert rewritten(strip_markup, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2 * 3", "2 * 3"),
        ("snake_case", "snake_case"),
        ("5 > 3", "5 > 3"),
        ("a - b", "a - b"),
        ("3. Oktober", "3. Oktober"),
    ],
)
def test_what_is_no_markup_stays(text: str, said: str) -> None:
    assert rewritten(strip_markup, text) == said
