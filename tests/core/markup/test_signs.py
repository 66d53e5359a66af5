"""One sign at a time: its role, its length, and whether half of one is waited for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.markup.signs import (
    Cut,
    Role,
    Sign,
    ends_call,
    ends_foreign,
    find_sign,
    opened_thought,
    read_sign,
)

SIGNS = {
    "<|im_start|>": Role.HEADER,
    "<|im_end|>": Role.TURN_END,
    "<|eot_id|>": Role.TURN_END,
    "<|channel|>": Role.HARMONY,
    "<|assistant|>": Role.SPEAKER,
    "<|user|>": Role.SPEAKER,
    "<think>": Role.THOUGHT,
    "</thinking>": Role.THOUGHT_END,
    "◁think▷": Role.THOUGHT,
    "◁/think▷": Role.THOUGHT_END,
    "<seed:think>": Role.THOUGHT,
    "[THINK]": Role.THOUGHT,
    "<tool_call>": Role.CALL,
    "</tool_call>": Role.CALL_END,
    "[TOOL_CALLS]": Role.CALL,
    "<｜tool▁calls▁begin｜>": Role.CALL,
    "<｜tool▁calls▁end｜>": Role.CALL_END,
    "<｜DSML｜invoke>": Role.CALL,
    "<tool_response>": Role.FOREIGN,
    "[/INST]": Role.FOREIGN_END,
    "<<SYS>>": Role.FOREIGN,
    "<</SYS>>": Role.FOREIGN_END,
    "<start_of_turn>": Role.HEADER,
    "<end_of_turn>": Role.TURN_END,
    "<pad>": Role.DROP,
    "<unused12>": Role.DROP,
    "[UNUSED_TOKEN_145]": Role.DROP,
    "[|endofturn|]": Role.TURN_END,
    "<turn|>": Role.TURN_END,
    "<|some_new_token|>": Role.DROP,
}


@pytest.mark.parametrize("text", SIGNS)
def test_a_sign_has_its_role_and_length_whatever_follows(text: str) -> None:
    for after in ("", "x", "\n", "<", " > "):
        sign = read_sign(text + after)
        assert isinstance(sign, Sign), text
        assert (sign.role, sign.length) == (SIGNS[text], len(text))


@pytest.mark.parametrize("text", SIGNS)
def test_half_a_sign_is_waited_for(text: str) -> None:
    for end in range(1, len(text)):
        found = read_sign(text[:end])
        assert found is not Cut.NONE, text[:end]


@pytest.mark.parametrize(
    "text",
    ["<b>bold</b>", "< 5", "<3", "[1] a note", "[Link](x)", "<|>", "◁hello▷", "<-", "<html>"],
)
def test_what_is_no_sign(text: str) -> None:
    assert read_sign(text) is Cut.NONE


def test_names_and_arguments_are_read() -> None:
    sign = read_sign('<function=lamp_on>{"a": 1}')
    assert isinstance(sign, Sign)
    assert (sign.role, sign.name, sign.argument, sign.closed) == (
        Role.CALL, "function", "=lamp_on", False,
    )  # fmt: skip
    closed = read_sign('<invoke name="x"/>')
    assert isinstance(closed, Sign)
    assert closed.closed


@given(st.text(alphabet="<>[]|/◁▷ _think=imstar\n", min_size=1, max_size=30))
def test_a_sign_is_never_longer_than_the_text(text: str) -> None:
    sign = read_sign("<" + text)
    assert not isinstance(sign, Sign) or 0 < sign.length <= len(text) + 1


def test_the_first_wanted_sign_is_found() -> None:
    text = "a < b <pad> c <think> d"
    at, sign = find_sign(text, True, lambda sign: sign.role is Role.THOUGHT)
    assert (at, sign.role if sign else None) == (text.index("<think>"), Role.THOUGHT)


def test_up_to_half_a_sign_there_is_none() -> None:
    text = "all is well <thi"
    assert find_sign(text, False, lambda _: True) == (text.index("<"), None)
    assert find_sign(text, True, lambda _: True) == (len(text), None)


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("<|assistant|><think>\n", "<think>"),
        ("<think>\n\n</think>\n\n", ""),
        ("<think/>", ""),
        ("Hello", ""),
    ],
)
def test_a_prompt_may_end_inside_a_thought(text: str, opened: str) -> None:
    assert opened_thought(text) == opened


def sign(text: str) -> Sign:
    found = read_sign(text)
    assert isinstance(found, Sign)
    return found


def test_a_call_is_ended_by_its_own_end_or_the_turns() -> None:
    opened = sign("<｜tool▁calls▁begin｜>")
    assert ends_call(opened, sign("<｜tool▁calls▁end｜>"))
    assert ends_call(opened, sign("<|im_end|>"))
    assert not ends_call(opened, sign("</function>"))
    assert ends_call(sign("[TOOL_REQUEST]"), sign("[END_TOOL_REQUEST]"))
    assert ends_call(sign("<tool_call>"), sign("<tool_call>"))  # a model that closes it so


def test_foreign_text_is_ended_by_its_own_end_or_a_new_speaker() -> None:
    assert ends_foreign("tool_response", sign("</tool_response>"))
    assert not ends_foreign("tool_response", sign("</tools>"))
    assert ends_foreign("tool_response", sign("<|assistant|>"))
    assert not ends_foreign("tool_response", sign("<|user|>"))
    assert ends_foreign("sys", sign("<|im_start|>"))
