"""Items as plain values, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.items import (
    CallItem,
    Item,
    MessageItem,
    OutputItem,
    SoundPart,
    TextPart,
    ToolItem,
)
from s2s.core.messages import ResponseId, TurnId
from s2s.llm.memory.item_entry import ItemEntry, NotAnEntry, entry_of

texts = st.text(max_size=12)
statuses = st.sampled_from(["completed", "incomplete"])
parts = st.one_of(st.builds(TextPart, texts), st.builds(SoundPart, st.none() | texts))
roles = st.sampled_from(["system", "user", "assistant"])
items: st.SearchStrategy[Item] = st.one_of(
    st.builds(MessageItem, texts, roles, st.lists(parts, max_size=3).map(tuple), statuses),
    st.builds(CallItem, texts, texts, texts, texts, statuses),
    st.builds(OutputItem, texts, texts, texts, statuses),
    st.builds(ToolItem, texts, texts, texts, texts, texts, st.booleans(), texts),
)
numbers = st.integers(0, 1_000)
entries = st.builds(
    ItemEntry,
    items,
    turn=st.none() | st.builds(TurnId, texts, numbers),
    response=st.none() | st.builds(ResponseId, texts, numbers, numbers, st.none() | texts),
    cut=st.booleans(),
    shown=st.booleans(),
)


@given(entries)
def test_what_is_written_as_json_is_read_as_it_was(entry: ItemEntry):
    assert entry_of(json.loads(json.dumps(entry.plain()))) == entry


def test_an_answer_that_was_being_spoken_is_cut_off_where_it_was_heard():
    answer = ResponseId("t", 0, 0, "resp_t")
    item = MessageItem("msg_t", "assistant", (SoundPart("It is"),), "in_progress")
    read = entry_of(ItemEntry(item, response=answer, told="It is noon in London.").plain())
    assert read.item == MessageItem("msg_t", "assistant", (SoundPart("It is"),), "incomplete")
    assert read.told == ""


def test_of_an_answer_that_was_being_written_all_counts():
    item = MessageItem("msg_t", "assistant", (TextPart(""),), "in_progress")
    read = entry_of(ItemEntry(item, told="It is noon").plain())
    assert read.item == MessageItem("msg_t", "assistant", (TextPart("It is noon"),), "incomplete")


MESSAGE = {"is": "message", "id": "a", "role": "user", "parts": [], "status": "completed"}


@pytest.mark.parametrize(
    "written",
    [
        None,
        [],
        {},
        {"item": {"is": "song"}},
        {"item": {**MESSAGE, "id": 1}},
        {"item": {**MESSAGE, "role": "nobody"}},
        {"item": {**MESSAGE, "status": "done"}},
        {"item": {**MESSAGE, "parts": "none"}},
        {"item": {**MESSAGE, "parts": [{"text": 1}]}},
        {"item": MESSAGE, "turn": ["a"]},
        {"item": MESSAGE, "response": ["a", 0, 0, 1]},
    ],
)
def test_what_is_none_is_refused(written: object):
    with pytest.raises(NotAnEntry):
        entry_of(written)
