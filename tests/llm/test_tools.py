"""Tools for servers, for templates, and in words for models that know none."""

from __future__ import annotations

import json
import re

import pytest

from s2s.core.answering import ToolSchema
from s2s.llm.base import ChatMessage, ChatOptions, ToolUse
from s2s.llm.tools import declared, forcing_note, in_words, used

LOOK = ToolSchema("look", "Looks outside.", {"type": "object", "properties": {"where": {}}})
USE = ToolUse("c", "look", '{"where": "here"}')


def test_a_tool_without_parameters_takes_an_empty_object() -> None:
    one, other = declared([LOOK, ToolSchema("stop")])
    assert one["function"]["parameters"] == LOOK.parameters  # type: ignore[index]
    assert other["function"]["parameters"] == {"type": "object", "properties": {}}  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [('{"where": "here"}', {"where": "here"}), ("[1]", {}), ("no json", {}), ("", {})],
)
def test_arguments_are_text_for_servers_and_an_object_for_templates(
    arguments: str, parsed: object
) -> None:
    use = ToolUse("c", "look", arguments)
    assert used(use, parsed=False)["function"] == {"name": "look", "arguments": arguments}
    assert used(use, parsed=True)["function"] == {"name": "look", "arguments": parsed}


def test_in_words_tools_are_told_once_in_front() -> None:
    for messages in (
        [ChatMessage("system", "Be brief."), ChatMessage("user", "hi")],
        [ChatMessage("user", "hi")],
    ):
        told = in_words(messages, [LOOK])
        assert [message.role for message in told] == ["system", "user"]
        [listed] = re.findall(r"<tools>\n(.*)\n</tools>", told[0].content)
        assert [json.loads(listed)] == declared([LOOK])
        assert told[0].content.startswith("Be brief.") == (len(messages) == 2)
        assert in_words(messages, []) == messages


def test_in_words_calls_and_outputs_are_part_of_what_is_said() -> None:
    call, output = in_words(
        [ChatMessage("assistant", "I look.", (USE,)), ChatMessage("tool", "rain", call_id="c")], []
    )
    assert (call.calls, call.content.splitlines()[0]) == ((), "I look.")
    [made] = re.findall(r"<tool_call>\n(.*)\n</tool_call>", call.content)
    assert json.loads(made) == {"name": "look", "arguments": {"where": "here"}}
    assert output == ChatMessage("user", "<tool_response>\nrain\n</tool_response>")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (ChatOptions((LOOK,), "required", "look"), "the function look"),
        (ChatOptions((LOOK,), "required"), "one of the functions"),
        (ChatOptions((LOOK,), "auto"), None),
        (ChatOptions((), "required"), None),
    ],
)
def test_a_call_is_forced_by_a_note_behind_all(options: ChatOptions, told: str | None) -> None:
    notes = forcing_note(options)
    assert [message.role for message in notes] == (["system"] if told else [])
    assert all(told in message.content for message in notes if told)
