"""The twenty rules that decide whether stock clients work, each a test of its name."""

from __future__ import annotations

import json

import pytest

from s2s.core.events import Notice
from tests.support.realtime_client import SESSION, WireClient

PCM_100_MS = bytes(4800)


def of_type(events: list[dict], kind: str) -> dict:
    found = [event for event in events if event["type"] == kind]
    assert len(found) == 1, f"{len(found)} of {kind}"
    return found[0]


def spoken_answer(client: WireClient, text: str = "Good morning to you.") -> list[dict]:
    key = client.session.answer_turn()
    client.session.say(key, text)
    client.session.finish(key)
    return client.events()


def test_rule_1_session_created_is_first_and_whole():
    client = WireClient()
    first = client.events()[0]
    assert first["type"] == "session.created"
    session = first["session"]
    assert session == {
        "type": "realtime",
        "object": "realtime.session",
        "id": SESSION,
        "expires_at": 2_000_000_000,
        "model": "local",
        "output_modalities": ["audio"],
        "instructions": "Be brief.",
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "tracing": None,
        "truncation": "auto",
        "prompt": None,
        "include": None,
        "audio": {
            "input": {
                "format": {"type": "audio/pcm", "rate": 24000},
                "transcription": None,
                "noise_reduction": None,
                "turn_detection": {
                    "type": "server_vad",
                    "threshold": 0.5,
                    "prefix_padding_ms": 300,
                    "silence_duration_ms": 200,
                    "idle_timeout_ms": None,
                    "create_response": True,
                    "interrupt_response": True,
                },
            },
            "output": {
                "format": {"type": "audio/pcm", "rate": 24000},
                "voice": "aria",
                "speed": 1.0,
            },
        },
    }


def test_rule_1_an_update_that_was_sent_before_created_was_seen_is_taken():
    client = WireClient()
    client.protocol.client_text('{"type": "session.update", "session": {"type": "realtime"}}')
    assert client.kinds() == ["session.created", "session.updated"]


def test_rule_2_one_updated_for_each_update_with_the_whole_session():
    client = WireClient()
    created = client.events()[0]["session"]
    given = {"input": {"turn_detection": {"type": "semantic_vad"}}}
    events = client.update(instructions="Rhyme.", audio=given)
    assert [event["type"] for event in events] == ["session.updated"]
    session = events[0]["session"]
    assert set(session) == set(created)
    assert session["instructions"] == "Rhyme."
    assert session["audio"]["input"]["turn_detection"] == {
        "type": "semantic_vad",
        "eagerness": "auto",
        "create_response": True,
        "interrupt_response": True,
    }
    assert client.session.answering is not None
    assert client.session.answering.instructions == "Rhyme."


def test_rule_3_the_item_before_is_always_told_and_null_only_for_the_first():
    client = WireClient()
    client.session.hear_turn()
    spoken_answer(client)
    client.session.hear_turn()
    client.send(
        "conversation.item.create",
        item={"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]},
    )
    client.events()
    told = [json.loads(text) for text in client.texts]
    kinds = ("conversation.item.added", "conversation.item.done", "input_audio_buffer.committed")
    placed = [event for event in told if event["type"] in kinds]
    assert all("previous_item_id" in event for event in placed)
    order = [item.item_id for item in client.session.items]
    before = dict(zip(order, [None, *order], strict=False))
    for event in placed:
        item_id = event["item_id"] if "item_id" in event else event["item"]["id"]
        assert event["previous_item_id"] == before[item_id]
    assert {event.get("item_id") or event["item"]["id"] for event in placed} == set(order)


def test_rule_4_metadata_comes_back_unchanged():
    client = WireClient()
    client.events()
    metadata = {"client_event_id": "response_1", "ü": "x" * 512}
    created = of_type(client.send("response.create", response={"metadata": metadata}),
                      "response.created")  # fmt: skip
    assert created["response"]["metadata"] == metadata
    client.session.finish(created["response"]["id"])
    done = of_type(client.events(), "response.done")
    assert done["response"]["metadata"] == metadata


def test_rule_5_item_before_part_before_delta():
    client = WireClient()
    client.session.hear_turn()
    client.events()
    kinds = [event["type"] for event in spoken_answer(client)]
    first = [
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
    ]
    assert list(dict.fromkeys(kinds))[:6] == first


@pytest.mark.parametrize("status", ["completed", "cancelled", "failed", "incomplete"])
@pytest.mark.parametrize("said", ["nothing", "text", "sound", "call", "sound and call"])
def test_rule_6_done_always_comes_once_and_last_with_everything_closed(status, said):
    client = WireClient()
    client.session.hear_turn()
    client.events()
    key = client.session.answer_turn()
    if said == "text":
        client.session.say(key, "Words without sound", sound=False)
    if "sound" in said:
        client.session.say(key, "Words with sound")
    if "call" in said:
        client.session.call(key, "look", "{}", "call_1")
    client.session.finish(key, status)
    client.session.say(key, "Too late")  # of a response that has ended: told to nobody
    events = client.events()
    kinds = [event["type"] for event in events]
    assert kinds.count("response.done") == 1
    assert kinds[-2:] == ["response.done", "rate_limits.updated"]
    opened = [(e["output_index"], e["item"]["id"]) for e in events
              if e["type"] == "response.output_item.added"]  # fmt: skip
    closed = [e for e in events if e["type"] == "response.output_item.done"]
    assert [(e["output_index"], e["item"]["id"]) for e in closed] == opened
    assert kinds.count("response.content_part.added") == kinds.count("response.content_part.done")
    assert kinds.count("conversation.item.added") == kinds.count("conversation.item.done")
    done = events[-2]["response"]
    assert done["status"] == status
    assert done["output"] == [e["item"] for e in closed]
    want = "completed" if status == "completed" else "incomplete"
    assert {item["status"] for item in done["output"]} <= {want} | (
        {"completed"} if said == "call" else set()
    )


def test_rule_7_speech_started_then_what_dies_then_done():
    client = WireClient()
    client.session.hear_turn()
    key = client.session.answer_turn()
    client.session.say(key, "A long answer")
    client.events()
    item_id = client.session.begin_turn(5000)
    events = client.events()
    assert events[0]["type"] == "input_audio_buffer.speech_started"
    assert events[0]["item_id"] == item_id
    done = of_type(events, "response.done")["response"]
    assert done["status"] == "cancelled"
    assert done["status_details"] == {"type": "cancelled", "reason": "turn_detected"}


def test_rule_7_only_what_is_in_the_conversation_is_interrupted():
    client = WireClient()
    client.events()
    client.send("response.create", response={"conversation": "none"})
    client.session.begin_turn()
    assert client.kinds() == ["input_audio_buffer.speech_started"]


def test_rule_8_nothing_to_cancel():
    client = WireClient()
    client.events()
    for fields in ({}, {"response_id": "resp_unknown"}):
        error = client.one_error(client.send("response.cancel", **fields))
        assert error["code"] == "response_cancel_not_active"
        assert error["message"].startswith("Cancellation failed")


def test_rule_9_one_response_at_a_time_in_the_conversation():
    client = WireClient()
    client.events()
    first = client.send("response.create")[0]["response"]["id"]
    error = client.one_error(client.send("response.create"))
    assert error["code"] == "conversation_already_has_active_response"
    assert first in error["message"]
    kinds = [e["type"] for e in client.send("response.create", response={"conversation": "none"})]
    assert kinds == ["response.created"]


def test_rule_10_nothing_but_a_fault_of_the_client_is_an_error():
    client = WireClient()
    client.session.hear_turn("")
    client.session.tell(Notice("the microphone crackles"))
    key = client.session.answer_turn()
    client.session.say(key, "I was")
    client.session.finish(key, "failed", error="the model is gone")
    told = client.events()
    assert "error" not in [event["type"] for event in told]
    done = of_type(told, "response.done")["response"]
    assert done["status_details"]["error"]["type"] == "server_error"
    assert done["status_details"]["error"]["message"] == "the model is gone"


@pytest.mark.parametrize("event_id", ["rci_item_1", None])
def test_rule_11_an_error_names_the_event(event_id):
    client = WireClient()
    client.events()
    fields = {} if event_id is None else {"event_id": event_id}
    error = client.one_error(client.send("conversation.item.retrieve", item_id="no", **fields))
    assert error["event_id"] == event_id
    later = client.one_error(client.send("response.cancel"))
    assert later["event_id"] is None


def test_rule_12_truncate_works_after_done_and_beyond_the_end():
    client = WireClient()
    client.session.hear_turn()
    events = spoken_answer(client, "one two three four five")
    item_id = of_type(events, "response.content_part.added")["item_id"]
    where = {"item_id": item_id, "content_index": 0}
    told = client.send("conversation.item.truncate", audio_end_ms=5000, **where)
    assert [event["type"] for event in told] == ["error", "conversation.item.truncated"]
    assert told[0]["error"]["code"] == "invalid_value"
    assert told[0]["error"]["param"] == "audio_end_ms"
    assert told[1]["audio_end_ms"] == 1000
    (told,) = client.send("conversation.item.truncate", audio_end_ms=450, **where)
    assert told["type"] == "conversation.item.truncated"
    assert (told["item_id"], told["content_index"], told["audio_end_ms"]) == (item_id, 0, 450)
    (told,) = client.send("conversation.item.retrieve", item_id=item_id)
    assert told["item"]["content"][0]["transcript"] == "one two"


def test_rule_13_any_item_is_retrieved_also_while_it_is_spoken():
    client = WireClient()
    user = client.session.hear_turn("What is it?")
    key = client.session.answer_turn()
    client.session.say(key, "It is")
    client.session.call(key, "look", '{"x": 1}', "call_7")
    client.events()
    for item in client.session.items:
        (told,) = client.send("conversation.item.retrieve", item_id=item.item_id)
        assert told["type"] == "conversation.item.retrieved"
        assert told["item"]["id"] == item.item_id
    (told,) = client.send("conversation.item.retrieve", item_id=user)
    assert told["item"]["content"][0]["transcript"] == "What is it?"
    assert len(told["item"]["content"][0]["audio"]) == 64000  # a second at 24 kHz as base64
    error = client.one_error(client.send("conversation.item.retrieve", item_id="nope"))
    assert error["code"] == "item_retrieve_invalid_item_id"
    assert "nope" in error["message"]


def test_rule_14_the_transcript_of_the_user_is_null_until_it_is_known():
    client = WireClient()
    client.session.hear_turn()
    added = of_type(client.events(), "conversation.item.added")
    assert added["item"]["content"] == [{"type": "input_audio", "transcript": None}]


def test_rule_15_content_of_items_and_parts_has_their_own_names_and_no_nulls():
    client = WireClient()
    client.session.hear_turn()
    spoken = spoken_answer(client)
    assert of_type(spoken, "response.content_part.added")["part"] == {
        "type": "audio",
        "transcript": "",
    }
    item = of_type(spoken, "response.output_item.done")["item"]
    assert item["content"] == [{"type": "output_audio", "transcript": "Good morning to you."}]
    created = client.send("response.create", response={"output_modalities": ["text"]})
    key = created[0]["response"]["id"]
    client.session.say(key, "Good", sound=False)
    client.session.finish(key)
    written = created + client.events()
    assert of_type(written, "response.content_part.done")["part"] == {
        "type": "text",
        "text": "Good",
    }
    item = of_type(written, "response.output_item.done")["item"]
    assert item["content"] == [{"type": "output_text", "text": "Good"}]


def test_rule_16_a_transcription_has_usage_and_index():
    client = WireClient()
    client.session.hear_turn("Hello there")
    kind = "conversation.item.input_audio_transcription.completed"
    told = of_type(client.events(), kind)
    assert told["content_index"] == 0
    assert told["transcript"] == "Hello there"
    assert told["usage"] == {"type": "duration", "seconds": 1.0}


def test_rule_17_a_call_is_added_then_done_with_name_and_id():
    client = WireClient()
    client.session.hear_turn()
    client.events()
    key = client.session.answer_turn()
    client.session.call(key, "look", '{"where": "up"}', "call_0abc-1")
    client.session.finish(key)
    events = client.events()
    kinds = [event["type"] for event in events]
    done = of_type(events, "response.function_call_arguments.done")
    assert (done["name"], done["arguments"]) == ("look", '{"where": "up"}')
    assert done["call_id"] == "call_0abc-1"
    assert kinds.index("conversation.item.added") < events.index(done)
    item = of_type(events, "response.output_item.done")["item"]
    assert item["status"] == "completed"
    assert len(item["call_id"]) <= 32
    assert len(item["id"]) <= 32


def test_rule_18_one_start_and_one_stop_with_the_id_of_the_item():
    client = WireClient()
    client.session.hear_turn()
    events = client.events()
    started = of_type(events, "input_audio_buffer.speech_started")
    stopped = of_type(events, "input_audio_buffer.speech_stopped")
    committed = of_type(events, "input_audio_buffer.committed")
    added = of_type(events, "conversation.item.added")
    ids = {started["item_id"], stopped["item_id"], committed["item_id"], added["item"]["id"]}
    assert len(ids) == 1


def test_rule_19_over_a_socket_the_client_owns_playback():
    client = WireClient()
    client.session.hear_turn()
    key = client.session.answer_turn()
    client.session.say(key, "Something")
    client.session.begin_turn()
    kinds = client.kinds()
    assert "conversation.item.truncated" not in kinds
    assert not [kind for kind in kinds if kind.startswith("output_audio_buffer.")]
    assert client.one_error(client.send("output_audio_buffer.clear"))["param"] == "type"


def test_rule_20_every_field_of_the_schema_is_taken_and_others_are_refused_by_name():
    client = WireClient()
    client.events()
    detection = {"type": "semantic_vad", "model_version": "x", "eagerness": "low"}
    events = client.update(
        tracing="auto",
        prompt={"id": "pmpt_1", "version": "2"},
        include=["item.input_audio_transcription.logprobs"],
        truncation={"type": "retention_ratio", "retention_ratio": 0.8},
        reasoning={"effort": "low"},
        parallel_tool_calls=True,
        audio={
            "input": {
                "noise_reduction": {"type": "near_field", "strength": 0.5},
                "turn_detection": detection,
                "transcription": {"model": "whisper-1", "delay": "low", "keywords": ["s2s"]},
            }
        },
    )
    session = events[0]["session"]
    assert session["reasoning"] == {"effort": "low"}
    assert session["audio"]["input"]["turn_detection"]["model_version"] == "x"
    assert session["audio"]["input"]["noise_reduction"]["strength"] == 0.5
    error = client.one_error(client.update(foo=1))
    assert (error["code"], error["param"]) == ("unknown_parameter", "session.foo")
    error = client.one_error(client.update(audio={"input": {"bar": 1}}))
    assert (error["code"], error["param"]) == ("unknown_parameter", "session.audio.input.bar")
    error = client.one_error(client.update(instructions=7))
    assert (error["code"], error["param"]) == ("invalid_type", "session.instructions")
    error = client.one_error(client.send("session.update", session={}))
    assert (error["code"], error["param"]) == ("missing_required_parameter", "session.type")
    error = client.one_error(client.send("session.close"))
    assert (error["code"], error["param"]) == ("invalid_value", "type")
    assert "'session.update'" in error["message"]
