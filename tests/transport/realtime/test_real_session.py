"""The protocol over a real session in simulated time: whole conversations, and random ones."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from s2s.session.session import stages_alive
from s2s.testing.random_conversations import conversation
from s2s.testing.simulator import ModelCosts, Said, tone
from s2s.testing.wire_simulator import WireSimulation, as_sent
from s2s.transport.realtime.wire.parse import parse_server_event
from tests.support.realtime_grammar import Grammar

QUESTION = as_sent(Said(tone(1.2), "what time is it"))
STOP = as_sent(Said(tone(0.8, 220.0), "no wait stop that"))
WORDS = {"input": {"transcription": {"model": "whisper-1"}}}
SERVER_VAD = {"type": "server_vad", "silence_duration_ms": 500}


def audio(**detection) -> dict:
    return {"input": {"transcription": {"model": "whisper-1"}, "turn_detection": detection}}


def check(held: WireSimulation) -> Grammar:
    grammar = Grammar()
    for text in held.texts:
        parse_server_event(text)
    for _, event in held.received:
        grammar.feed(event)
    grammar.at_end()
    return grammar


def until(held: WireSimulation, kind: str, count: int = 1, at_most_s: float = 60.0) -> None:
    until_s = held.clock.now() + at_most_s
    while held.kinds().count(kind) < count:
        assert held.clock.now() < until_s, f"no {kind}: {held.kinds()}"
        list(held.listen(0.1))


@pytest.mark.parametrize(
    "detection", [SERVER_VAD, {"type": "semantic_vad"}], ids=lambda each: each["type"]
)
def test_a_turn_is_heard_answered_and_written_down(detection):
    held = WireSimulation([QUESTION], answer=lambda _: "It is noon in London today.")
    with held.connected({"audio": audio(**detection)}):
        list(held.speak(QUESTION.audio))
        until(held, "response.done")
    grammar = check(held)
    assert grammar.errors == []
    kinds = held.kinds()
    assert [kinds.count(f"input_audio_buffer.{each}") for each in
            ("speech_started", "speech_stopped", "committed")] == [1, 1, 1]  # fmt: skip
    completed = "conversation.item.input_audio_transcription.completed"
    told = {str(event["type"]): event for _, event in held.received}
    assert told[completed]["transcript"] == "what time is it"
    done = told["response.done"]["response"]
    assert done["status"] == "completed"
    assert done["output"][0]["content"][0]["transcript"] == "It is noon in London today."
    words = [e for _, e in held.received if e["type"].endswith("audio_transcript.delta")]
    assert "".join(e["delta"] for e in words) == "It is noon in London today."
    starts = [e["start_time"] for e in words]
    assert starts == sorted(starts)
    assert starts[0] == 0.0
    assert len(words) >= 5


def test_an_interruption_cuts_at_once_and_the_truncated_item_holds_what_was_heard():
    answer = "This is a very long answer that nobody would want to hear until its end. " * 3
    slow = ModelCosts(tts_rtf=0.9)  # so that it is still being made
    held = WireSimulation([QUESTION, STOP], answer=lambda _: answer, costs=slow)
    with held.connected({"audio": audio(**SERVER_VAD)}):
        list(held.speak(QUESTION.audio))
        until(held, "response.output_audio.delta")
        list(held.listen(2.0))
        started_s = 0.0
        for event in held.speak(STOP.audio):
            if event["type"] == "input_audio_buffer.speech_started":
                started_s = held.clock.now()
        spoken = [e for _, e in held.received if e["type"] == "response.content_part.added"]
        item_id = spoken[0]["item_id"]
        where = {"item_id": item_id, "content_index": 0}
        told = held.tell("conversation.item.truncate", audio_end_ms=2000, **where)
        assert "conversation.item.truncated" in [e["type"] for e in told]
        told = held.tell("conversation.item.retrieve", item_id=item_id)
        heard = next(e["item"] for e in told if e["type"] == "conversation.item.retrieved")
        until(held, "response.done", 2)
    grammar = check(held)
    assert grammar.errors == []
    first = next(e for _, e in held.received if e["type"] == "response.done")
    assert first["response"]["status_details"]["reason"] == "turn_detected"
    key = first["response"]["id"]
    late = [at_s for at_s, e in held.received
            if e["type"] == "response.output_audio.delta" and e["response_id"] == key]  # fmt: skip
    assert max(late) <= started_s + 0.05
    words = heard["content"][0]["transcript"]
    assert words
    assert answer.startswith(words)
    assert len(words) < 60


def test_what_the_client_commits_and_asks_for():
    held = WireSimulation([QUESTION], answer=lambda _: "It is noon.")
    with held.connected({"audio": {"input": {"turn_detection": None, **WORDS["input"]}}}):
        list(held.speak(QUESTION.audio))
        held.tell("input_audio_buffer.commit")
        until(held, "input_audio_buffer.committed")
        held.tell("response.create", response={"metadata": {"a": "b"}})
        until(held, "response.done")
    assert check(held).errors == []
    kinds = held.kinds()
    assert "input_audio_buffer.speech_started" not in kinds
    assert kinds.index("input_audio_buffer.committed") < kinds.index("response.created")
    done = next(e for _, e in held.received if e["type"] == "response.done")["response"]
    assert done["metadata"] == {"a": "b"}
    assert done["output"][0]["content"][0]["transcript"] == "It is noon."
    prompt = held.chat.prompts[-1]
    assert prompt[-1].content == "what time is it"


def test_written_questions_written_answers_and_one_beside_them():
    held = WireSimulation([], answer=lambda question: f"You wrote {question}")
    with held.connected({"output_modalities": ["text"]}):
        content = [{"type": "input_text", "text": "hello"}]
        item = {"type": "message", "role": "user", "content": content}
        held.tell("conversation.item.create", item=item)
        held.tell("response.create")
        aside = {"type": "message", "role": "user", "content": [{**content[0], "text": "aside"}]}
        held.tell(
            "response.create", response={"conversation": "none", "input": [aside], "metadata": {}}
        )
        until(held, "response.done", 2)
    assert check(held).errors == []
    texts = {e["text"] for _, e in held.received if e["type"] == "response.output_text.done"}
    assert texts == {"You wrote hello", "You wrote aside"}
    assert "response.output_audio.delta" not in held.kinds()


CALL = '<tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>'


def test_tools_are_called_and_the_answer_is_made_of_what_they_gave():
    held = WireSimulation(
        [QUESTION], answer=lambda said: f"{CALL} {CALL}" if "time" in said else f"It is {said}."
    )
    tool = {"type": "function", "name": "look", "parameters": {"type": "object"}}
    with held.connected({"audio": audio(**SERVER_VAD), "tools": [tool]}):
        list(held.speak(QUESTION.audio))
        until(held, "response.done")
        calls = [
            e for _, e in held.received if e["type"] == "response.function_call_arguments.done"
        ]
        assert [json.loads(call["arguments"]) for call in calls] == [{"at": 1}, {"at": 1}]
        assert [call["output_index"] for call in calls] == [0, 1]
        assert len({call["call_id"] for call in calls}) == 2
        for call in calls:
            output = {"type": "function_call_output", "call_id": call["call_id"], "output": "noon"}
            held.tell("conversation.item.create", item=output)
        held.tell("response.create")
        until(held, "response.done", 2)
    assert check(held).errors == []
    done = [e["response"] for _, e in held.received if e["type"] == "response.done"]
    assert [item["type"] for item in done[0]["output"]] == ["function_call"] * 2
    assert done[1]["output"][0]["content"][0]["transcript"] == "It is noon."
    assert [message.role for message in held.chat.prompts[-1][-2:]] == ["tool", "tool"]


def test_nobody_says_anything_for_as_long_as_the_client_waits():
    held = WireSimulation([QUESTION], answer=lambda _: "Well.")
    with held.connected({"audio": audio(**SERVER_VAD, idle_timeout_ms=5000)}):
        list(held.speak(QUESTION.audio))
        until(held, "response.done")
        done_s = held.clock.now()
        until(held, "input_audio_buffer.timeout_triggered")
        assert 4.0 < held.clock.now() - done_s < 8.0
        until(held, "response.done", 2)
    assert check(held).errors == []
    kinds = held.kinds()
    first = kinds.index("input_audio_buffer.timeout_triggered")
    assert kinds[first + 1 : first + 4] == [
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
    ]


def test_a_session_that_only_writes_down():
    held = WireSimulation([QUESTION], answer=lambda _: "Never said.")
    heard = {
        "format": {"type": "audio/pcm", "rate": 16000},
        "transcription": {"model": "whisper-1"},
        "turn_detection": SERVER_VAD,
    }
    with held.connected():
        held.tell("session.update", session={"type": "transcription", "audio": {"input": heard}})
        list(held.speak(QUESTION.audio))
        until(held, "conversation.item.input_audio_transcription.completed")
        list(held.listen(3.0))
    assert check(held).errors == []
    assert "response.created" not in held.kinds()
    last = [e for _, e in held.received if e["type"].endswith("transcription.completed")][-1]
    assert last["transcript"] == "what time is it"


SEEDS = range(24)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_conversations_hold_over_the_wire(seed):
    """Any turn detection, speech at any time, and a client that edits, cancels and asks."""
    rng = np.random.default_rng(seed)
    script = conversation(seed)
    said = [as_sent(each) for each in script.said]
    held = WireSimulation(said, answer=script.answer, costs=script.costs, config=script.config)
    detections = [SERVER_VAD, {"type": "semantic_vad", "eagerness": "high"},
                  {**SERVER_VAD, "interrupt_response": False}]  # fmt: skip
    with held.connected({"audio": audio(**detections[seed % 3])}):
        for each in said:
            if each.after_quiet_s is not None:
                quiet(held)
            for event in held.speak(each.audio):
                react(held, event, rng)
        quiet(held)
    grammar = check(held)
    expected = {"response_cancel_not_active", "conversation_already_has_active_response",
                "item_retrieve_invalid_item_id", "invalid_value"}  # fmt: skip
    assert {error["code"] for error in grammar.errors} <= expected
    assert stages_alive() == []


def quiet(held: WireSimulation) -> None:
    until_s = held.clock.now() + 120.0
    while True:
        list(held.listen(0.3))
        if held.session.quiet:
            return
        assert held.clock.now() < until_s, held.kinds()[-20:]


def react(held: WireSimulation, event, rng: np.random.Generator) -> None:
    """What clients do when they are told something."""
    kind = event["type"]
    if kind == "input_audio_buffer.speech_started":
        inside = {
            e["response"]["id"]
            for _, e in held.received
            if e["type"] == "response.created" and e["response"]["conversation_id"]
        }
        parts = [e for _, e in held.received if e["type"] == "response.content_part.added"]
        spoken = [e for e in parts if e["response_id"] in inside]
        if spoken and rng.random() < 0.7:
            item_id = spoken[-1]["item_id"]
            sound = sum(
                len(base64.b64decode(e["delta"]))
                for _, e in held.received
                if e["type"] == "response.output_audio.delta" and e["item_id"] == item_id
            )
            heard_ms = int(rng.uniform(0, 1.1) * sound / 48)
            where = {"item_id": item_id, "content_index": 0}
            held.tell("conversation.item.truncate", audio_end_ms=heard_ms, **where)
    elif kind.endswith("transcription.completed"):
        held.tell("conversation.item.retrieve", item_id=event["item_id"])
    elif kind == "response.created" and rng.random() < 0.3:
        asked = [("response.cancel", {}), ("response.create", {}),
                 ("response.create", {"response": {"conversation": "none"}})]  # fmt: skip
        which, fields = asked[rng.integers(0, 3)]
        held.tell(which, **fields)
