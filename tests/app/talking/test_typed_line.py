"""The line that is typed: how it begins, how it is edited, what becomes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.app.talking.typed_line import (
    END,
    ENTER,
    ERASE_LINE,
    ERASE_WORD,
    ESCAPE,
    LONGEST_CHARS,
    TAB,
    TypedLine,
)


class Typed:
    """A line and what comes of it."""

    def __init__(self, *, always: bool = False) -> None:
        self.sent: list[str] = []
        self.shown: list[str | None] = []
        self.ended = 0
        self.line = TypedLine(
            self.sent.append, self.shown.append, steering="ma", always=always, end=self._end
        )

    def _end(self) -> None:
        self.ended += 1

    def keys(self, text: str) -> list[bool]:
        return [self.line.takes(key) for key in text]


def test_a_letter_begins_a_line_and_enter_sends_it() -> None:
    typed = Typed()
    assert typed.keys("hello Mum" + ENTER) == [True] * 10
    assert typed.sent == ["hello Mum"]
    assert typed.shown[0] == "h"
    assert typed.shown[-2:] == ["hello Mum", None]
    assert not typed.line.is_open


@pytest.mark.parametrize("key", ["m", "A", " ", ENTER, ESCAPE, "\x7f", END, "\ufffd"])
def test_what_steers_or_is_no_character_begins_no_line(key: str) -> None:
    typed = Typed()
    assert typed.keys(key) == [False]
    assert typed.shown == []


def test_tab_begins_a_line_with_a_letter_that_steers() -> None:
    typed = Typed()
    typed.keys(TAB + "make tea" + ENTER)
    assert typed.sent == ["make tea"]


def test_where_there_is_nothing_but_typing_every_letter_is_typed() -> None:
    typed = Typed(always=True)
    assert typed.keys(ENTER) == [False], "it silences the assistant"
    typed.keys("mama" + ENTER)
    assert typed.sent == ["mama"]
    typed.keys("x" + END)
    assert (typed.ended, typed.line.is_open) == (0, True)
    typed.keys(ESCAPE + END)
    assert (typed.ended, typed.line.is_open) == (1, False)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("helo\x7flo", "hello"),
        ("one two" + ERASE_WORD, "one "),
        ("one two  " + ERASE_WORD, "one "),
        ("one" + ERASE_WORD, None),
        ("one two" + ERASE_LINE, None),
        ("e\u0301\x7f", None),
        ("cafe\u0301\b", "caf"),
        ("h\x01i" + TAB, "hi"),
        ("x\x7f", None),
        ("你好\x7f", "你"),
    ],
)
def test_a_line_is_edited_from_its_end(keys: str, line: str | None) -> None:
    typed = Typed()
    assert all(typed.keys(keys))
    assert typed.shown[-1] == line


def test_a_line_is_dropped_by_escape_and_never_sent_blank() -> None:
    typed = Typed()
    typed.keys("no" + ESCAPE)
    typed.keys(TAB + "  " + ENTER)
    assert typed.sent == []
    assert typed.shown[-1] is None


def test_a_line_ends_growing_where_it_is_far_too_long() -> None:
    typed = Typed()
    typed.keys("x" * (LONGEST_CHARS + 5) + ENTER)
    assert typed.sent == ["x" * LONGEST_CHARS]


@given(st.text(st.sampled_from("hm a\t\n\x1b\x7f\x15\x17é"), max_size=40))
def test_whatever_is_pressed_only_whole_lines_are_sent(keys: str) -> None:
    typed = Typed()
    typed.keys(keys)
    assert all(line == line.strip() and line for line in typed.sent)
    assert typed.line.is_open == bool(typed.shown and typed.shown[-1] is not None)
