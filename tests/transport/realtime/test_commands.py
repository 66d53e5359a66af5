"""Items of a client, into the conversation and back; truncate, delete, references."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from s2s.core.audio import to_int16
from s2s.core.items import CallItem, MessageItem, OutputItem, SoundPart, TextPart
from s2s.transport.realtime import meaning
from tests.support.realtime_client import WireClient


def opened() -> WireClient:
    client = WireClient()
    client.events()
    return client


def create(client: WireClient, item: dict, **where) -> list[dict]:
    return client.send("conversation.item.create", item=item, **where)


def sound(seconds: float) -> str:
    t = np.arange(int(24000 * seconds)) / 24000
    tone = (0.5 * np.sin(2 * np.pi * 300 * t)).astype(np.float32)
    return base64.b64encode(to_int16(tone).tobytes()).decode()


def test_messages_calls_and_outputs_become_items():
    client = opened()
    content = [
        {"type": "input_text", "text": "Look"},
        {"type": "input_audio", "audio": sound(0.5), "transcript": "there"},
    ]
    create(client, {"id": "u", "type": "message", "role": "user", "content": content})
    create(client, {"id": "f", "type": "function_call", "name": "look", "call_id": "c1",
                    "arguments": "{}"})  # fmt: skip
    create(client, {"id": "o", "type": "function_call_output", "call_id": "c1", "output": "ok"})
    create(client, {"id": "x", "type": "function_call_output", "call_id": "?", "output": ""})
    user, call, output, unknown = client.session.items
    assert isinstance(user, MessageItem)
    text, spoken = user.parts
    assert text == TextPart("Look")
    assert isinstance(spoken, SoundPart)
    assert spoken.transcript == "there"
    assert spoken.audio is not None
    assert abs(len(spoken.audio) - 8000) < 500
    assert call == CallItem("f", "c1", "look", "{}")
    assert output == OutputItem("o", "c1", "ok")
    assert unknown == OutputItem("x", "?", "")


def test_a_picture_is_kept_for_the_client_alone():
    client = opened()
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "low"}
    text = {"type": "input_text", "text": "What is this?"}
    item = {"id": "p", "type": "message", "role": "user", "content": [picture, text]}
    added, _ = create(client, item)
    assert added["item"]["content"] == [picture, text]
    assert client.session.items == [MessageItem("p", "user", (TextPart("What is this?"),))]
    (told,) = client.send("conversation.item.retrieve", item_id="p")
    assert told["item"]["content"] == [picture, text]
    client.send("conversation.item.delete", item_id="p")
    error = client.one_error(client.send("conversation.item.retrieve", item_id="p"))
    assert error["code"] == "item_retrieve_invalid_item_id"


@pytest.mark.parametrize(
    ("doing", "fields"),
    [
        ("retrieve", {}),
        ("delete", {}),
        ("truncate", {"content_index": 0, "audio_end_ms": 0}),
    ],
)
def test_an_item_that_is_not_there(doing, fields):
    client = opened()
    error = client.one_error(client.send(f"conversation.item.{doing}", item_id="gone", **fields))
    assert error["code"] == f"item_{doing}_invalid_item_id"
    assert error["message"].startswith(f"Error {doing.removesuffix('e')}ing item: ")
    assert "'gone' does not exist" in error["message"]


def test_behind_an_item_that_is_not_there():
    client = opened()
    item = {"type": "message", "role": "user", "content": []}
    error = client.one_error(create(client, item, previous_item_id="gone"))
    assert error["param"] == "previous_item_id"
    assert client.session.items == []


def test_only_speech_of_the_assistant_is_truncated():
    client = opened()
    user = client.session.hear_turn()
    client.events()
    where = {"content_index": 0, "audio_end_ms": 10}
    error = client.one_error(client.send("conversation.item.truncate", item_id=user, **where))
    assert error["code"] == "unsupported_content_type"


@pytest.mark.parametrize(
    ("audio_end_ms", "words"), [(0, ""), (1, ""), (399, "one"), (400, "one two"), (600, None)]
)
@pytest.mark.parametrize("finished", [True, False])
def test_truncate_anywhere_also_while_it_is_spoken_and_twice(audio_end_ms, words, finished):
    client = opened()
    client.session.hear_turn()
    key = client.session.answer_turn()
    client.session.say(key, "one two three")
    if finished:
        client.session.finish(key)
    client.events()
    item_id = client.session.items[-1].item_id
    ask = {"item_id": item_id, "content_index": 0, "audio_end_ms": audio_end_ms}
    for _ in range(2):
        (told,) = client.send("conversation.item.truncate", **ask)
        assert told["type"] == "conversation.item.truncated"
        assert told["audio_end_ms"] == audio_end_ms
        (item,) = client.send("conversation.item.retrieve", item_id=item_id)
        want = "one two three" if words is None else words
        assert item["item"]["content"][0]["transcript"] == want


def test_a_response_to_items_of_its_own():
    client = opened()
    user = client.session.hear_turn("What is it?")
    client.events()
    given = [
        {"type": "item_reference", "id": user},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hm?"}]},
    ]
    client.send("response.create", response={"conversation": "none", "input": given})
    asked = client.session.asked[0].given
    assert asked is not None
    assert [item.item_id for item in asked] == [user, "item_0abc-w1"]
    bad = {"conversation": "none", "input": [given[1], {"type": "item_reference", "id": "gone"}]}
    error = client.one_error(client.send("response.create", response=bad))
    assert error["param"] == "response.input[1].id"
    assert len(client.session.asked) == 1


def test_an_item_with_more_sound_than_fits_is_told_without(monkeypatch):
    client = opened()
    user = client.session.hear_turn()
    client.events()
    (told,) = client.send("conversation.item.retrieve", item_id=user)
    assert "audio" in told["item"]["content"][0]
    monkeypatch.setattr(meaning, "MAX_RETRIEVED_BYTES", 1000)
    (told,) = client.send("conversation.item.retrieve", item_id=user)
    assert "audio" not in told["item"]["content"][0]
    assert told["item"]["content"][0]["transcript"] == "Hello there"


def test_sound_that_was_interrupted_does_not_leave_any_more():
    client = opened()
    client.session.hear_turn()
    client.events()
    key = client.session.answer_turn()
    client.session.say(key, "one two three")
    client.protocol.catch_up()  # all of it waits to be sent
    client.session.begin_turn()
    events = client.events()
    kinds = [event["type"] for event in events]
    assert "response.output_audio.delta" not in kinds
    assert kinds.count("response.output_audio.done") == 1
    assert client.session.sent == 3 * 4800  # the session may hand on more
    client.session.say(key, "four")
    assert client.events() == []
    assert client.session.sent == 4 * 4800


def test_sound_that_comes_at_once_is_joined():
    client = opened()
    key = client.session.answer_turn()
    for _ in range(12):
        block = np.full(512, 0.1, np.float32)
        client.protocol.session_sound(_response(key), block, "")
    deltas = client.events("response.output_audio.delta")
    lengths = [len(base64.b64decode(event["delta"])) for event in deltas]
    assert lengths == [5120, 5120, 2048]  # 107 ms, and what is left at once
    assert client.session.sent == 12 * 512


def _response(key: str):
    from s2s.core.messages import ResponseId

    return ResponseId("t", 0, 0, key)


@pytest.mark.parametrize(
    ("settings", "code", "param"),
    [
        ({"metadata": {f"k{n}": "v" for n in range(17)}}, "invalid_value", "response.metadata"),
        ({"metadata": {"k": "v" * 513}}, "invalid_value", "response.metadata.k"),
        ({"metadata": {"k": 1}}, "invalid_type", "response.metadata.k"),
        ({"conversation": "other"}, "invalid_value", "response.conversation"),
        ({"voice": "marin"}, "unknown_parameter", "response.voice"),
        ({"output_modalities": ["text", "audio"]}, "invalid_value", "response.output_modalities"),
        ({"input": [{"type": "message"}]}, "missing_required_parameter", "response.input[0].role"),
    ],
)
def test_a_response_that_cannot_be_is_refused_by_the_path(settings, code, param):
    client = opened()
    error = client.one_error(client.send("response.create", response=settings))
    assert (error["code"], error["param"]) == (code, param)
    assert client.session.asked == []
    assert client.send("response.create")[0]["type"] == "response.created"
