"""Items as messages: sides take turns, and calls have their outputs."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.items import CallItem, Item, MessageItem, OutputItem, Speaker, TextPart
from s2s.llm.base import ChatMessage, ToolUse
from s2s.llm.items import to_messages


def said(role: Speaker, text: str) -> MessageItem:
    return MessageItem(f"item_{text}", role, (TextPart(text),))


CALL, OUTPUT = CallItem("item_c", "c", "look", "{}"), OutputItem("item_o", "c", "rain")
USE = ToolUse("c", "look", "{}")
OTHER_CALL = CallItem("item_d", "d", "look", "{}")
OTHER_OUTPUT = OutputItem("item_q", "d", "snow")


@pytest.mark.parametrize(
    ("items", "messages"),
    [
        ([], []),
        ([said("user", "")], []),
        (
            [said("user", "one"), said("user", "two"), said("assistant", "three")],
            [ChatMessage("user", "one\ntwo"), ChatMessage("assistant", "three")],
        ),
        (
            [said("user", "one"), CALL, OUTPUT],
            [
                ChatMessage("user", "one"),
                ChatMessage("assistant", "", (USE,)),
                ChatMessage("tool", "rain", call_id="c"),
            ],
        ),
        (
            [said("assistant", "I look."), CALL, OUTPUT],
            [ChatMessage("assistant", "I look.", (USE,)), ChatMessage("tool", "rain", call_id="c")],
        ),
        ([said("user", "one"), CALL], [ChatMessage("user", "one")]),
        ([OUTPUT], [ChatMessage("user", "(a tool gave: rain)")]),
        (  # the person goes on while the tool works
            [said("user", "one"), CALL, said("user", "two"), OUTPUT],
            [
                ChatMessage("user", "one"),
                ChatMessage("assistant", "", (USE,)),
                ChatMessage("tool", "rain", call_id="c"),
                ChatMessage("user", "two"),
            ],
        ),
        (  # a client put the output in front
            [OUTPUT, CALL],
            [ChatMessage("assistant", "", (USE,)), ChatMessage("tool", "rain", call_id="c")],
        ),
        (  # two calls at once, answered in the other order
            [CALL, OTHER_CALL, OTHER_OUTPUT, OUTPUT],
            [
                ChatMessage("assistant", "", (USE, ToolUse("d", "look", "{}"))),
                ChatMessage("tool", "rain", call_id="c"),
                ChatMessage("tool", "snow", call_id="d"),
            ],
        ),
        (  # one call, answered twice
            [CALL, OUTPUT, OutputItem("item_p", "c", "hail")],
            [
                ChatMessage("assistant", "", (USE,)),
                ChatMessage("tool", "rain", call_id="c"),
                ChatMessage("user", "(a tool gave: hail)"),
            ],
        ),
    ],
)
def test_what_the_model_is_shown(items: list[Item], messages: list[ChatMessage]) -> None:
    assert to_messages(items) == messages


ITEMS = st.one_of(
    st.builds(said, st.sampled_from(("system", "user", "assistant")), st.sampled_from("ab ")),
    st.builds(CallItem, st.just("i"), st.sampled_from("cd"), st.just("look"), st.just("{}")),
    st.builds(OutputItem, st.just("i"), st.sampled_from("cd"), st.just("rain")),
)


@given(st.lists(ITEMS, max_size=8))
def test_every_call_has_its_output_behind_it_and_no_side_speaks_twice(items: list[Item]) -> None:
    messages = to_messages(items)
    open_calls: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert message.call_id == open_calls.pop(0)
        else:
            assert not open_calls
            open_calls = [use.call_id for use in message.calls]
    assert not open_calls
    roles = [message.role for message in messages]
    assert all(a != b or a == "tool" for a, b in itertools.pairwise(roles))
