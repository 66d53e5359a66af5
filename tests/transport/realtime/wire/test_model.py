"""Absent, null and constant fields."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from s2s.transport.realtime.wire.items import InputAudio, InputText, UserMessage
from s2s.transport.realtime.wire.server_events import ItemAdded


def test_constants_are_written_null_where_it_was_given_and_nothing_else():
    item = UserMessage(id="i", content=[InputAudio(transcript=None)])
    assert ItemAdded(item=item, previous_item_id=None).written() == {
        "type": "conversation.item.added",
        "previous_item_id": None,
        "item": {
            "id": "i",
            "object": "realtime.item",
            "type": "message",
            "role": "user",
            "content": [{"type": "input_audio", "transcript": None}],
        },
    }


def test_nothing_is_converted_and_no_name_is_unknown():
    for wrong in ({"text": 7}, {"text": "x", "more": 1}, {"text": None}, {}):
        with pytest.raises(ValidationError):
            InputText.model_validate({"type": "input_text", **wrong})
