"""Where code, links and formulas begin and end, character by character."""

from __future__ import annotations

import pytest

from s2s.core.markup.spans import DOLLAR_CHARS, SPAN_CHARS, Spans


def after(text: str) -> Spans:
    spans = Spans()
    for char in text:
        spans.read(char)
    return spans


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode", "```python\ncode", "~~~\ncode", "````\n```\n", "a `b", "see [the", "[a](b",
        "it is $$a", r"it is \[a", r"it is \(a", "it is $x", "Write ```py\nx",
    ],
)  # fmt: skip
def test_what_belongs_together_holds(text: str) -> None:
    assert after(text).holds


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode\n```", "```\ncode\n```\nmore", "~~~\ncode\n~~~", "a `b` c", "see [the](link)",
        "[a] b", "it is $$a$$", r"it is \[a\]", r"it is \(a\)", "it is $x$", "it costs $5",
        "US$a lot", "plain", "a ``b`` c",
    ],
)  # fmt: skip
def test_what_is_closed_does_not(text: str) -> None:
    assert not after(text).holds


def test_a_fence_is_no_inline_code_and_the_other_way_round() -> None:
    assert after("```\nx").in_fence
    assert not after("```\nx").in_inline_code
    assert after("a `x").in_inline_code
    assert not after("a `x").in_fence


def test_a_fence_inside_a_fence_does_not_close_it() -> None:
    assert after("```\nx ``` y").in_fence  # not at the start of a line
    assert after("````\n```\nx\n").in_fence  # shorter than the one that opened it
    assert after("~~~\n```\n").in_fence  # of the other kind


@pytest.mark.parametrize(("text", "chars"), [("`", SPAN_CHARS), ("$x", DOLLAR_CHARS)])
def test_what_is_not_closed_in_time_was_none(text: str, chars: int) -> None:
    assert after(text + "a" * (chars - 5)).holds
    assert not after(text + "a" * (chars + 5)).holds


def test_a_paragraph_ends_what_is_open_but_not_a_code_block() -> None:
    assert not after("a `b\n\n").holds
    assert after("```\na\n\n").holds


def test_a_backtick_can_be_taken_back() -> None:
    spans = after("a `b")
    spans.no_inline_code()
    assert not spans.holds
