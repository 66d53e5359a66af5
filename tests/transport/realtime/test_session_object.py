"""The session: every field and its echo, merging, what cannot be changed, and what it means."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from s2s.transport.realtime.faults import ClientFault
from s2s.transport.realtime.limits import Limits
from s2s.transport.realtime.session_object import SessionObject
from s2s.transport.realtime.wire.parse import parse_settings
from tests.support.realtime_client import WireClient

TOOL = {
    "type": "function",
    "name": "look",
    "description": "Looks.",
    "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}},
}
FIELDS = {
    "instructions": ["Rhyme.", ""],
    "output_modalities": [["text"], ["audio"]],
    "tools": [[TOOL], [], [{"type": "mcp", "server_label": "x", "server_url": "http://x"}]],
    "tool_choice": ["none", "required", {"type": "function", "name": "look"}],
    "max_output_tokens": [1, 4096, "inf"],
    "tracing": ["auto", {"workflow_name": "w", "group_id": "g", "metadata": {"a": 1}}],
    "truncation": ["disabled", {"type": "retention_ratio", "retention_ratio": 0.5}],
    "prompt": [{"id": "p", "variables": {"x": "y"}}],
    "include": [["item.input_audio_transcription.logprobs"]],
    "reasoning": [{"effort": "xhigh"}],
    "parallel_tool_calls": [False],
    "audio.input.format": [
        {"type": "audio/pcm", "rate": 16000},
        {"type": "audio/pcmu"},
        {"type": "audio/pcma"},
    ],
    "audio.input.transcription": [{"model": "whisper-1", "language": "de", "prompt": "x"}, {}],
    "audio.input.noise_reduction": [{"type": "far_field"}],
    "audio.input.turn_detection": [None],
    "audio.output.format": [{"type": "audio/pcmu"}, {"type": "audio/pcm", "rate": 48000}],
    "audio.output.voice": ["marin", "nobody of this name"],
    "audio.output.speed": [0.25, 1.5, 1],
}


def nested(path: str, value: object) -> dict:
    for name in reversed(path.split(".")):
        value = {name: value}
    assert isinstance(value, dict)
    return value


def at(session: dict, path: str) -> object:
    for name in path.split("."):
        session = session[name]
    return session


def opened(**options) -> WireClient:
    client = WireClient(**options)
    client.events()
    return client


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, values in FIELDS.items() for value in values]
)
def test_each_field_is_echoed_and_nothing_else_changes(path, value):
    client = opened()
    before = client.object.echo()
    (updated,) = client.update(**nested(path, value))
    session = updated["session"]
    assert at(session, path) == value
    *parents, name = path.split(".")
    inner = session
    for parent in parents:
        inner = inner[parent]
    if name in ("reasoning", "parallel_tool_calls"):
        del inner[name]
    else:
        inner[name] = at(before, path)
    assert session == before


@pytest.mark.parametrize("path", [path for path in FIELDS if path != "audio.input.turn_detection"])
def test_null_brings_the_default_back(path):
    client = opened()
    before = client.object.echo()
    for value in FIELDS[path]:
        client.update(**nested(path, value))
    (updated,) = client.update(**nested(path, None))
    after = updated["session"]
    for name in ("reasoning", "parallel_tool_calls"):
        assert after.pop(name, None) is None
    assert after == before


def test_turn_detection_is_replaced_as_a_whole_and_written_out():
    client = opened()
    first = {"type": "server_vad", "threshold": 0.9, "idle_timeout_ms": 6000}
    client.update(audio={"input": {"turn_detection": first}})
    second = {"type": "server_vad", "silence_duration_ms": 700, "create_response": None}
    (updated,) = client.update(audio={"input": {"turn_detection": second}})
    assert updated["session"]["audio"]["input"]["turn_detection"] == {
        "type": "server_vad",
        "threshold": 0.5,
        "prefix_padding_ms": 300,
        "silence_duration_ms": 700,
        "idle_timeout_ms": None,
        "create_response": True,
        "interrupt_response": True,
    }


def test_a_voice_by_id_is_echoed_as_its_name():
    client = opened()
    (updated,) = client.update(audio={"output": {"voice": {"id": "marin"}}})
    assert updated["session"]["audio"]["output"]["voice"] == "marin"
    assert client.session.answering is not None
    assert client.session.answering.voice == "marin"


def test_a_pcm_format_without_rate_is_24_khz():
    client = opened()
    (updated,) = client.update(audio={"input": {"format": {"type": "audio/pcm"}}})
    assert updated["session"]["audio"]["input"]["format"] == {"type": "audio/pcm", "rate": 24000}


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"output_modalities": ["audio", "text"]}, "invalid_value", "session.output_modalities"),
        ({"output_modalities": []}, "invalid_value", "session.output_modalities"),
        ({"max_output_tokens": 0}, "invalid_value", "session.max_output_tokens"),
        ({"max_output_tokens": 4097}, "invalid_value", "session.max_output_tokens"),
        ({"max_output_tokens": True}, "invalid_value", "session.max_output_tokens"),
        ({"tools": [{"type": "function"}]}, "missing_required_parameter", "session.tools[0].name"),
        ({"tools": [TOOL | {"x": 1}]}, "unknown_parameter", "session.tools[0].x"),
        ({"tools": {}}, "invalid_type", "session.tools"),
        ({"tool_choice": "maybe"}, "invalid_value", "session.tool_choice"),
        ({"tool_choice": {"type": "function"}}, "missing_required_parameter",
         "session.tool_choice.name"),
        ({"temperature": 0.8}, "unknown_parameter", "session.temperature"),
        (nested("audio.output.speed", 1.51), "invalid_value", "session.audio.output.speed"),
        (nested("audio.output.speed", "1"), "invalid_type", "session.audio.output.speed"),
        (nested("audio.input.format", {"type": "audio/mp3"}), "invalid_value",
         "session.audio.input.format.type"),
        (nested("audio.input.format", {}), "missing_required_parameter",
         "session.audio.input.format.type"),
        (nested("audio.input.format", "pcm16"), "invalid_type", "session.audio.input.format"),
        (nested("audio.input.format", {"type": "audio/pcm", "rate": 7}), "invalid_value",
         "session.audio.input.format.rate"),
        (nested("audio.input.turn_detection", {"type": "server_vad", "idle_timeout_ms": 1}),
         "invalid_value", "session.audio.input.turn_detection.idle_timeout_ms"),
        (nested("audio.input.turn_detection", {"type": "semantic_vad", "idle_timeout_ms": 6000}),
         "unknown_parameter", "session.audio.input.turn_detection.idle_timeout_ms"),
        (nested("audio.input.turn_detection", {"type": "semantic_vad", "eagerness": "wild"}),
         "invalid_value", "session.audio.input.turn_detection.eagerness"),
        ({"instructions": "x" * 101}, "invalid_value", "session.instructions"),
        ({"tools": [TOOL, TOOL, TOOL]}, "invalid_value", "session.tools"),
    ],
)  # fmt: skip
def test_an_update_that_cannot_be_costs_one_error_and_changes_nothing(fields, code, param):
    client = opened(limits=Limits(text_chars=100, tools=2))
    client.update(instructions="Stay.")
    before = client.object.echo()
    error = client.one_error(client.update(**{"instructions": "Changed.", **fields}))
    assert (error["code"], error["param"]) == (code, param)
    assert client.object.echo() == before
    (updated,) = client.update()
    assert updated["session"] == before


def test_the_voice_stays_once_it_was_heard():
    client = opened()
    client.update(audio={"output": {"voice": "marin"}})
    key = client.session.answer_turn()
    client.session.say(key, "Hello")
    client.events()
    error = client.one_error(client.update(audio={"output": {"voice": "aria"}}))
    assert (error["code"], error["param"]) == (
        "cannot_update_voice",
        "session.audio.output.voice",
    )
    (same,) = client.update(audio={"output": {"voice": "marin", "speed": 1.2}})
    assert same["type"] == "session.updated"


def test_tracing_stays_once_it_was_set_but_may_be_turned_off():
    client = opened()
    client.update(tracing="auto")
    assert client.update(tracing="auto")[0]["type"] == "session.updated"
    error = client.one_error(client.update(tracing={"workflow_name": "w"}))
    assert error["param"] == "session.tracing"
    assert client.update(tracing=None)[0]["session"]["tracing"] is None


def test_a_model_that_the_client_asked_for_stays():
    client = opened(model_named=True)
    for name in ("local", "other", None):
        (updated,) = client.update(model=name)
        assert updated["session"]["model"] == "local"
    other = opened()
    assert other.update(model="other")[0]["session"]["model"] == "other"


def test_a_transcription_session():
    client = opened()
    transcription = {"model": "gpt-4o-transcribe", "language": "de"}
    (updated,) = client.update("transcription", audio={"input": {"transcription": transcription}})
    session = updated["session"]
    assert session["type"] == "transcription"
    assert session["object"] == "realtime.transcription_session"
    assert set(session) == {"type", "object", "id", "expires_at", "include", "audio"}
    assert set(session["audio"]) == {"input"}
    assert session["audio"]["input"]["turn_detection"]["type"] == "server_vad"
    hearing = client.session.hearing
    assert hearing is not None
    assert (hearing.answers, hearing.transcribes, hearing.language) == (False, True, "de")
    client.session.hear_turn("Guten Tag")
    kinds = client.kinds()
    assert kinds[-1] == "conversation.item.input_audio_transcription.completed"
    error = client.one_error(client.send("response.create"))
    assert "response.create" not in error["message"]  # clients blame it on their last one
    error = client.one_error(client.update("realtime"))
    assert error["param"] == "session.type"
    error = client.one_error(client.update("transcription", instructions="x"))
    assert (error["code"], error["param"]) == ("unknown_parameter", "session.instructions")


def test_a_session_written_down_is_the_same_again_with_what_holds_for_good():
    client = opened(model_named=True)
    client.update(instructions="Rhyme.", audio={"output": {"voice": "marin"}})
    before = client.object.changes
    client.object.sound_was_sent()
    client.object.was_used()
    assert client.object.changes == before + 2
    client.object.was_used()
    assert client.object.changes == before + 2
    written = json.loads(json.dumps(client.object.written()))
    defaults = replace(client.object.defaults, model="elsewhere", model_named=False)
    again = SessionObject.restored(written, defaults)
    assert again.echo() == client.object.echo()
    assert again.written() == client.object.written()
    for settings in ({"audio": {"output": {"voice": "aria"}}}, {"type": "transcription"}):
        with pytest.raises(ClientFault):
            again.update(parse_settings({"type": "realtime", **settings}))


def test_a_session_of_which_a_part_is_missing_is_refused():
    written = opened().object.written()
    values = written["values"]
    assert isinstance(values, dict)
    for damaged in ({}, {"values": values | {"id": 3}}, {"values": values | {"type": "song"}}):
        with pytest.raises(ValueError, match="session"):
            SessionObject.restored(damaged, opened().object.defaults)
