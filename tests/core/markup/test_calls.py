"""Calls of tools in every form that models write them in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.markup.calls import (
    Call,
    WrittenCall,
    bracket_end,
    is_call,
    read_calls,
    written_json_end,
)

LAMP = '{"room": "hall"}'
FORMS = {
    "hermes": (f'{{"name": "lamp_on", "arguments": {LAMP}}}', ""),
    "llama 3": (f'{{"name": "lamp_on", "parameters": {LAMP}}}', ""),
    "openai": (
        f'{{"type": "function", "function": {{"name": "lamp_on", "arguments": {LAMP}}}}}',
        "",
    ),
    "arguments as text": (json.dumps({"name": "lamp_on", "arguments": LAMP}), ""),
    "with the namespace": (f'{{"name": "functions.lamp_on", "arguments": {LAMP}}}', ""),
    "in a list": (f'[{{"name": "lamp_on", "arguments": {LAMP}}}]', ""),
    "fenced": (f'```json\n{{"name": "lamp_on", "arguments": {LAMP}}}\n```', ""),
    "named by a sign": (LAMP, "lamp_on"),
    "mistral": (f"lamp_on[ARGS]{LAMP}", ""),
    "mistral with an id": (f"lamp_on[CALL_ID]x7[ARGS]{LAMP}", ""),
    "kimi": (f"functions.lamp_on:0<|tool_call_argument_begin|>{LAMP}", ""),
    "qwen coder": ("<function=lamp_on><parameter=room>hall</parameter></function>", ""),
    "minimax": ('<invoke name="lamp_on"><parameter name="room">hall</parameter></invoke>', ""),
    "parameters of a named sign": ("<parameter=room>\nhall\n</parameter>", "lamp_on"),
    "glm": ("lamp_on\n<arg_key>room</arg_key>\n<arg_value>hall</arg_value>", ""),
    "gemma": ('call:lamp_on{room:<|"|>hall<|"|>}', ""),
    "python": ('[lamp_on(room="hall")]', ""),
    "printed python": ('print(lamp_on(room="hall"))', ""),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(form: str) -> None:
    text, name = FORMS[form]
    (call,) = read_calls(WrittenCall(text, name))
    assert call.name == "lamp_on"
    assert json.loads(call.arguments) == {"room": "hall"}


def test_several_calls_come_in_their_order() -> None:
    text = "\n".join(f'{{"name": "{name}", "arguments": {{}}}}' for name in ("first", "second"))
    assert read_calls(WrittenCall(text)) == [Call("first", "{}"), Call("second", "{}")]
    assert [call.name for call in read_calls(WrittenCall("[a(x=1), b()]"))] == ["a", "b"]


def test_a_call_without_arguments_has_none() -> None:
    assert read_calls(WrittenCall("", "now")) == [Call("now", "{}")]


def test_what_cannot_be_read_is_handed_on_as_it_was_written() -> None:
    assert read_calls(WrittenCall("lamp on, please")) == [Call("", "lamp on, please")]
    assert read_calls(WrittenCall("lamp on", "lamp")) == [Call("lamp", "lamp on")]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ('{"name": "x", "arguments": {}}', True),
        ('{"answer": 42}', False),
        ("[1, 2, 3]", False),
        ("[f(x=1)]", True),
    ],
)
def test_only_a_call_is_one(text: str, called: bool) -> None:
    assert is_call(text) is called


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ('{"a": "}"} and on', 10),
        (r'{"a": "\"}"} x', 12),
        ("[{}]{}", 4),
        ('{"a": {', None),
        ('{"a": "x', None),
    ],
)
def test_a_bracket_ends_where_it_is_closed(text: str, end: int | None) -> None:
    assert bracket_end(text) == end


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(st.text(max_size=5), JSON, max_size=3), st.sampled_from(["", " and on", "\n"])
)
def test_any_json_ends_where_it_ends(value: dict[str, object], after: str) -> None:
    written = json.dumps(value)
    assert bracket_end(written + after) == len(written)
    assert written_json_end(written + after) == len(written)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ('lamp_on {"a": 1} Done.', 16),
        ('lamp_on[ARGS]{"a": 1}', 21),
        ('{"a": 1}, {"b": 2}', 18),
        ('{"a": 1}, {"b"', None),
        ("no JSON at all", None),
    ],
)
def test_the_json_of_a_call_may_have_a_name_before_it(text: str, end: int | None) -> None:
    assert written_json_end(text) == end
