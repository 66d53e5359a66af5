"""A conversation's items as the messages a language model is shown. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from s2s.core.items import CallItem, Item, MessageItem, OutputItem, ToolItem
from s2s.llm.base import ChatMessage, ToolUse


def to_messages(items: Iterable[Item]) -> list[ChatMessage]:
    """The messages of `items`: what was said by one side in a row is one, a call that nothing has
    answered is not shown, and what a tool gave that nobody called is told by the user.

    Servers refuse calls without their output, outputs without their call, and anything between the
    two: a tool may take long, and the person goes on speaking. So an output stands behind its call.
    """
    items = list(items)
    called = {item.call_id for item in items if isinstance(item, CallItem)}
    given: dict[str, OutputItem] = {}
    """The first output of each call."""
    for item in items:
        if isinstance(item, OutputItem) and item.call_id in called:
            given.setdefault(item.call_id, item)
    answers = set(map(id, given.values()))
    messages: list[ChatMessage] = []
    owed: list[ChatMessage] = []
    """What was given to the calls that were just shown."""
    for item in items:
        match item:
            case MessageItem(role=role) if item.text:
                messages += owed
                owed.clear()
                _join(messages, ChatMessage(role, item.text))
            case CallItem(call_id=call_id) if call_id in given:
                use = ToolUse(call_id, item.name, item.arguments)
                _join(messages, ChatMessage("assistant", "", (use,)))
                owed.append(ChatMessage("tool", given.pop(call_id).output, call_id=call_id))
            case ToolItem(call_id=call_id):
                messages += owed
                owed.clear()
                use = ToolUse(call_id, item.name, item.arguments)
                _join(messages, ChatMessage("assistant", "", (use,)))
                messages.append(ChatMessage("tool", item.output, call_id=call_id))
            case OutputItem() if id(item) not in answers:
                messages += owed
                owed.clear()
                _join(messages, ChatMessage("user", f"(a tool gave: {item.output})"))
            case _:
                pass
    return messages + owed


def _join(messages: list[ChatMessage], new: ChatMessage) -> None:
    """Add `new`, to the last message where that is of the same side."""
    last = messages[-1] if messages else None
    if last is None or last.role != new.role or new.role == "tool":
        messages.append(new)
        return
    content = "\n".join(each for each in (last.content, new.content) if each)
    messages[-1] = ChatMessage(last.role, content, last.calls + new.calls)
