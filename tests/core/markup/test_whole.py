"""The filter on whole texts: what is left, and what to cut for it to be left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.markup.whole import hidden_edits, visible_spans, visible_text

TEXTS = {
    "Just words.": "Just words.",
    "<think>I look.</think>Paris.": "Paris.",
    "One<!-- a note -->two.": "One two.",
    "I look.</think>Paris.": "Paris.",
    'On. <tool_call>{"name": "x", "arguments": {}}</tool_call> Off.': "On. Off.",
    "All done.<|im_end|>": "All done.",
    "": "",
}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_for_the_person_is_left(text: str) -> None:
    assert visible_text(text) == TEXTS[text]


def cut(text: str) -> str:
    """`text` with the edits carried out."""
    for start, end, instead in reversed(hidden_edits(text)):
        text = text[:start] + instead + text[end:]
    return text


@pytest.mark.parametrize("text", TEXTS)
def test_the_edits_leave_just_that(text: str) -> None:
    assert cut(text) == TEXTS[text]


PIECES = st.sampled_from(
    ["<think>", "</think>", "<|im_end|>", "`", "```\n", "word", " ", ".", "\n", "<tool_call>",
     "</tool_call>", '{"a": 1}', "<!--", "-->", "a < b", "é", "[INST]"],
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
def test_edits_and_text_agree_on_any_text(text: str) -> None:
    assert cut(text) == visible_text(text)
    assert all(text[each.at : each.at + 1] for each in visible_spans(text))


def test_a_role_or_bare_json_counts_at_the_start_of_an_answer_only() -> None:
    text = "assistant\nHello."
    assert "".join(each.text for each in visible_spans(text)) == "Hello."
    assert "".join(each.text for each in visible_spans(text, start=False)) == text
