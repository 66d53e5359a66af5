"""Tools as servers and chat templates are told of them, and as words for models that know none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from s2s.core.answering import ToolSchema
from s2s.core.untyped import is_mapping
from s2s.llm.base import ChatMessage, ChatOptions, ToolUse

HOW_TO_CALL = """You may call these functions to help with what the user asks:
<tools>
{tools}
</tools>
To call one, write its name and arguments, and nothing else, like this:
<tool_call>
{{"name": "...", "arguments": {{...}}}}
</tool_call>"""
"""The form of Hermes and Qwen, which most models have seen."""


def declared(tools: Sequence[ToolSchema]) -> list[dict[str, object]]:
    """`tools` in the form of OpenAI's chat completions, which templates take too."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters) or {"type": "object", "properties": {}},
            },
        }
        for tool in tools
    ]


def used(use: ToolUse, *, parsed: bool) -> dict[str, object]:
    """A call in that form; `parsed`: its arguments as an object, as templates want them."""
    arguments: object = use.arguments
    if parsed:
        try:
            read: object = json.loads(use.arguments)
        except ValueError:
            read = None
        arguments = read if is_mapping(read) else {}
    function: Mapping[str, object] = {"name": use.name, "arguments": arguments}
    return {"id": use.call_id, "type": "function", "function": function}


def in_words(messages: Sequence[ChatMessage], tools: Sequence[ToolSchema]) -> list[ChatMessage]:
    """The conversation for a model whose template knows no tools: they are part of its words."""
    told = [_message_in_words(message) for message in messages]
    if not tools:
        return told
    lines = "\n".join(json.dumps(each, ensure_ascii=False) for each in declared(tools))
    note = HOW_TO_CALL.format(tools=lines)
    if told and told[0].role == "system":
        return [ChatMessage("system", f"{told[0].content}\n\n{note}"), *told[1:]]
    return [ChatMessage("system", note), *told]


def forcing_note(options: ChatOptions) -> list[ChatMessage]:
    """What tells a model in this process that it must call a tool; nothing where it need not."""
    if not options.tools or options.tool_choice != "required":
        return []
    which = f"the function {options.forced_tool}" if options.forced_tool else "one of the functions"
    return [ChatMessage("system", f"Now call {which}, and write nothing else.")]


def _message_in_words(message: ChatMessage) -> ChatMessage:
    if message.role == "tool":
        return ChatMessage("user", f"<tool_response>\n{message.content}\n</tool_response>")
    if not message.calls:
        return message
    calls = [
        f"<tool_call>\n{json.dumps(used(use, parsed=True)['function'], ensure_ascii=False)}\n"
        "</tool_call>"
        for use in message.calls
    ]
    return ChatMessage(message.role, "\n".join([message.content, *calls]).strip())
