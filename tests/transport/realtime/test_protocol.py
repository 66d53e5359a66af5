"""Whatever a client sends: one bad event costs one `error`, and the next good one is answered."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.transport.realtime.faults import ClientFault
from s2s.transport.realtime.limits import Limits
from s2s.transport.realtime.wire.parse import (
    CLIENT_EVENT_TYPES,
    parse_event,
    parse_object,
    parse_server_event,
)
from tests.support.realtime_client import WireClient

ITEM = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
GOOD: list[dict] = [
    {"type": "session.update", "session": {"type": "realtime", "instructions": "x", "tools": []}},
    {
        "type": "session.update",
        "session": {"type": "realtime", "audio": {"input": {"turn_detection": None}}},
    },
    {"type": "input_audio_buffer.append", "audio": "AAAAAAAA"},
    {"type": "input_audio_buffer.append", "audio": "AA" * 20000},
    {"type": "input_audio_buffer.commit"},
    {"type": "input_audio_buffer.clear"},
    {"type": "output_audio_buffer.clear"},
    {"type": "conversation.item.create", "item": {"id": "a", **ITEM}, "previous_item_id": "root"},
    {"type": "conversation.item.create", "item": ITEM},
    {
        "type": "conversation.item.create",
        "item": {"type": "function_call_output", "call_id": "c", "output": "{}"},
    },
    {"type": "conversation.item.retrieve", "item_id": "a"},
    {"type": "conversation.item.delete", "item_id": "a"},
    {
        "type": "conversation.item.truncate",
        "item_id": "msg_0abc-2",
        "content_index": 0,
        "audio_end_ms": 100,
    },
    {"type": "response.create"},
    {"type": "response.create", "response": {"conversation": "none", "metadata": {"a": "b"}}},
    {"type": "response.cancel"},
    {"type": "response.cancel", "response_id": "resp_0abc-w1"},
]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["realtime", "root", "item_0abc-1", "a", *CLIENT_EVENT_TYPES])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Every path within a JSON value."""
    found = [path]
    pairs = value.items() if isinstance(value, dict) else []
    pairs = enumerate(value) if isinstance(value, list) else pairs
    for name, inner in pairs:
        found += places(inner, (*path, name))
    return found


@st.composite
def bent(draw) -> str:
    """A good event with something in it replaced, taken away or added."""
    event = copy.deepcopy(draw(st.sampled_from(GOOD)))
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(places(event)[1:] or [()]))
        if not path:
            continue
        holder = event
        for name in path[:-1]:
            holder = holder[name]
        action = draw(st.sampled_from(["replace", "drop", "add"]))
        if action == "drop":
            del holder[path[-1]]
        elif action == "replace":
            holder[path[-1]] = draw(values)
        elif isinstance(holder, dict):
            holder[draw(st.text(min_size=1, max_size=8))] = draw(values)
    return json.dumps(event)


@st.composite
def broken(draw) -> str:
    """A good event cut off, or with characters changed."""
    text = json.dumps(draw(st.sampled_from(GOOD)))
    cut = draw(st.integers(0, len(text) - 1))
    return text[:cut] + draw(st.sampled_from(["", "}", "\x00", "\ud800", "é", '"']))


good = st.sampled_from(GOOD).map(json.dumps)
anything = good | bent() | broken() | st.text(max_size=60) | values.map(json.dumps)


def is_bad(text: str) -> bool:
    try:
        parse_event(parse_object(text))
    except ClientFault:
        return True
    return False


def check_one_error(client: WireClient, text: str) -> None:
    """Send it; if it is no event there is one error and nothing else."""
    client.protocol.client_text(text)
    events = client.events()
    errors = [event["error"] for event in events if event["type"] == "error"]
    assert len(errors) <= 1
    assert not [error for error in errors if error["type"] == "server_error"], (text, errors)
    if is_bad(text):
        assert len(events) == 1, (text[:200], events)
        assert errors[0]["message"]
    assert "response_create" not in str([error["code"] for error in errors])


def check_answered(client: WireClient) -> None:
    answer = client.send("session.update", event_id="probe", session={"type": client.object.kind})
    assert [event["type"] for event in answer] == ["session.updated"]


@settings(max_examples=300, deadline=None)
@given(st.lists(anything, max_size=12))
def test_one_bad_event_costs_one_error_and_the_next_good_one_is_answered(texts):
    client = WireClient()
    client.events()
    client.session.hear_turn()
    key = client.session.answer_turn()
    client.session.say(key, "Some words of an answer")
    client.session.finish(key)
    client.events()
    for text in texts:
        check_one_error(client, text)
        check_answered(client)
    for text in client.texts:
        parse_server_event(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "invalid_json"),
        ("\x00\xff\xfe", "invalid_json"),
        ("{", "invalid_json"),
        ('{"type": "response.cancel"} trailing', "invalid_json"),
        ("[" * 100_000, "invalid_json"),
        ('{"a":' * 100_000, "invalid_json"),
        ('{"type": "response.create", "response": ' + '{"metadata":' * 150 + "1" + "}" * 151,
         "invalid_type"),
        ("[]", "invalid_type"),
        ("null", "invalid_type"),
        ("1e400", "invalid_type"),
        ('"text"', "invalid_type"),
        ("{}", "invalid_event"),
        ('{"type": 7}', "invalid_type"),
        ('{"type": "session.close"}', "invalid_value"),
        ('{"type": "response.cancel", "event_id": 7}', "invalid_type"),
        ('{"type": "response.cancel", "event_id": "' + "x" * 513 + '"}', "invalid_value"),
        ('{"type": "input_audio_buffer.append", "audio": "AAA"}', "invalid_value"),
        ('{"type": "input_audio_buffer.append", "audio": "ÄÄÄÄ"}', "invalid_value"),
        ('{"type": "input_audio_buffer.append", "audio": "AA AA"}', "invalid_value"),
        ('{"type": "input_audio_buffer.append"}', "missing_required_parameter"),
        ('{"type": "session.update", "session": {"type": "realtime", "x": NaN}}', "invalid_json"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_its_code(text, code):
    client = WireClient()
    client.events()
    client.protocol.client_text(text)
    assert client.one_error(client.events())["code"] == code
    assert client.errors == [code]
    check_answered(client)


def test_more_than_the_limits_is_refused_and_leaves_nothing():
    client = WireClient(limits=Limits(append_bytes=1000, items=2, text_chars=50))
    client.events()
    error = client.one_error(client.append(bytes(1001)))
    assert (error["code"], error["param"]) == ("invalid_value", "audio")
    assert client.session.uncommitted == 0
    long = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "x" * 51}],
    }
    error = client.one_error(client.send("conversation.item.create", item=long))
    assert error["param"] == "item.content[0].text"
    for _ in range(2):
        client.send("conversation.item.create", item=ITEM)
    error = client.one_error(client.send("conversation.item.create", item=ITEM))
    assert error["code"] == "conversation_too_long"
    client.send("conversation.item.delete", item_id=client.session.items[0].item_id)
    told = client.send("conversation.item.create", item=ITEM)
    assert [event["type"] for event in told] == [
        "conversation.item.added",
        "conversation.item.done",
    ]


def test_uncommitted_sound_has_a_bound_where_the_client_commits():
    client = WireClient(limits=Limits(manual_audio_s=1.0))
    client.update(audio={"input": {"turn_detection": None}})
    assert client.append(bytes(43200)) == []
    error = client.one_error(client.append(bytes(43200)))
    assert error["param"] == "audio"
    client.send("input_audio_buffer.clear")
    assert client.append(bytes(43200)) == []


def test_fifteen_mebibytes_at_once_and_single_bytes_are_heard():
    client = WireClient()
    client.update(
        audio={"input": {"format": {"type": "audio/pcm", "rate": 16000}, "turn_detection": None}}
    )
    assert client.append(bytes(15 << 20)) == []
    assert client.session.uncommitted == (15 << 20) // 2
    for _ in range(5):
        assert client.append(b"\x00") == []
    assert client.session.uncommitted == (15 << 20) // 2 + 2
    assert client.one_error(client.append(bytes((15 << 20) + 1)))["param"] == "audio"
