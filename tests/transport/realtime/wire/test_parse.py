"""Faults name the place as a client wrote it."""

from __future__ import annotations

import pytest

from s2s.transport.realtime.faults import ClientFault, SessionFieldError
from s2s.transport.realtime.wire.client_events import ItemCreate, SessionUpdate
from s2s.transport.realtime.wire.items import UserMessage
from s2s.transport.realtime.wire.parse import (
    CLIENT_EVENT_TYPES,
    event_id_of,
    parse_event,
    parse_object,
    parse_settings,
)


def test_there_are_eleven_events_of_a_client():
    assert len(CLIENT_EVENT_TYPES) == 11


def test_an_event_is_read():
    text = '{"type": "conversation.item.create", "event_id": "e", "item": {"type": "message",\
 "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}}'
    value = parse_object(text)
    event = parse_event(value)
    assert isinstance(event, ItemCreate)
    assert isinstance(event.item, UserMessage)
    assert event_id_of(value) == event.event_id == "e"
    session = parse_event({"type": "session.update", "session": {"type": "realtime"}})
    assert isinstance(session, SessionUpdate)


@pytest.mark.parametrize("event_id", [7, None, "x" * 513, ["e"]])
def test_what_is_no_id_is_none(event_id):
    assert event_id_of({"event_id": event_id}) is None


@pytest.mark.parametrize(
    ("item", "code", "param"),
    [
        ({"type": "message", "role": "user", "content": [{"type": "input_text"}]},
         "missing_required_parameter", "item.content[0].text"),
        ({"type": "message", "role": "user", "content": [{"type": "input_video"}]},
         "invalid_value", "item.content[0].type"),
        ({"type": "message", "role": "user", "content": "Hi"}, "invalid_type", "item.content"),
        ({"type": "message", "role": "bot", "content": []}, "invalid_value", "item.role"),
        ({"type": "message", "content": []}, "missing_required_parameter", "item.role"),
        ({"type": "mcp_call"}, "invalid_value", "item.type"),
        ({"type": "function_call_output", "call_id": "c", "output": {}}, "invalid_type",
         "item.output"),
        ({"id": "x" * 65, "type": "message", "role": "user", "content": []}, "invalid_value",
         "item.id"),
        ([], "invalid_type", "item"),
    ],
)  # fmt: skip
def test_the_path_is_the_one_that_the_client_wrote(item, code, param):
    with pytest.raises(ClientFault) as refused:
        parse_event({"type": "conversation.item.create", "item": item})
    assert (refused.value.code, refused.value.param) == (code, param)


def test_settings_of_a_secret_are_named_from_the_session_on():
    with pytest.raises(SessionFieldError) as refused:
        parse_settings({"type": "realtime", "audio": {"output": {"speed": "fast"}}})
    assert refused.value.param == "session.audio.output.speed"
