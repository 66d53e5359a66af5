"""Golden traces: every order in which the real service was recorded, event by event."""

from __future__ import annotations

import json

from s2s.core.events import TurnTranscript
from tests.support.realtime_client import WireClient

TURN = """
input_audio_buffer.speech_started item_0abc-1 at 0
input_audio_buffer.speech_stopped item_0abc-1 at 1000
input_audio_buffer.committed item_0abc-1 behind None
conversation.item.added item_0abc-1 behind None: user completed [input_audio None]
conversation.item.done item_0abc-1 behind None: user completed [input_audio None]
conversation.item.input_audio_transcription.delta item_0abc-1: Hello there
conversation.item.input_audio_transcription.completed item_0abc-1: Hello there
"""

SPOKEN = """
response.created resp_0abc-2 in_progress
response.output_item.added 0 msg_0abc-2: assistant in_progress []
conversation.item.added msg_0abc-2 behind item_0abc-1: assistant in_progress []
response.content_part.added 0 msg_0abc-2: audio
response.output_audio_transcript.delta 0 msg_0abc-2: Good at 0.0
response.output_audio.delta 0 msg_0abc-2: 200 ms
response.output_audio_transcript.delta 0 msg_0abc-2: day. at 0.2
response.output_audio.delta 0 msg_0abc-2: 200 ms
response.output_audio.done 0 msg_0abc-2
response.output_audio_transcript.done 0 msg_0abc-2: Good day.
response.content_part.done 0 msg_0abc-2: audio Good day.
conversation.item.done msg_0abc-2 behind item_0abc-1: assistant completed [output_audio Good day.]
response.output_item.done 0 msg_0abc-2: assistant completed [output_audio Good day.]
response.done resp_0abc-2 completed
rate_limits.updated
"""

CALLS = """
response.created resp_0abc-2 in_progress
response.output_item.added 0 item_call_1: function_call in_progress
conversation.item.added item_call_1 behind item_0abc-1: function_call in_progress
response.function_call_arguments.delta 0 item_call_1 call_1: {"a": 1}
response.function_call_arguments.done 0 item_call_1 call_1: look {"a": 1}
conversation.item.done item_call_1 behind item_0abc-1: function_call completed
response.output_item.done 0 item_call_1: function_call completed
response.output_item.added 1 item_call_2: function_call in_progress
conversation.item.added item_call_2 behind item_call_1: function_call in_progress
response.function_call_arguments.delta 1 item_call_2 call_2: {}
response.function_call_arguments.done 1 item_call_2 call_2: see {}
conversation.item.done item_call_2 behind item_call_1: function_call completed
response.output_item.done 1 item_call_2: function_call completed
response.done resp_0abc-2 completed
rate_limits.updated
"""

INTERRUPTED = """
input_audio_buffer.speech_started item_0abc-3 at 3000
response.output_audio.done 0 msg_0abc-2
response.output_audio_transcript.done 0 msg_0abc-2: Good day
response.content_part.done 0 msg_0abc-2: audio Good day
response.output_item.done 0 msg_0abc-2: assistant incomplete [output_audio Good day]
conversation.item.done msg_0abc-2 behind item_0abc-1: assistant incomplete [output_audio Good day]
response.done resp_0abc-2 cancelled turn_detected
rate_limits.updated
conversation.item.truncated msg_0abc-2 at 300
input_audio_buffer.speech_stopped item_0abc-3 at 4000
input_audio_buffer.committed item_0abc-3 behind msg_0abc-2
conversation.item.added item_0abc-3 behind msg_0abc-2: user completed [input_audio None]
conversation.item.done item_0abc-3 behind msg_0abc-2: user completed [input_audio None]
"""

MANUAL = """
input_audio_buffer.committed item_0abc-1 behind None
conversation.item.added item_0abc-1 behind None: user completed [input_audio None]
conversation.item.done item_0abc-1 behind None: user completed [input_audio None]
response.created resp_0abc-w1 in_progress
"""

CREATED = """
conversation.item.added mine behind None: user completed [input_text Hi]
conversation.item.done mine behind None: user completed [input_text Hi]
conversation.item.added first behind None: system completed [input_text Rhyme.]
conversation.item.done first behind None: system completed [input_text Rhyme.]
conversation.item.added item_0abc-w1 behind first: assistant completed [output_text Ho]
conversation.item.done item_0abc-w1 behind first: assistant completed [output_text Ho]
error item_create_duplicate_item_id
"""

WRITTEN = """
response.created resp_0abc-w1 in_progress
response.output_item.added 0 msg_0abc-w1: assistant in_progress []
conversation.item.added msg_0abc-w1 behind item_0abc-1: assistant in_progress []
response.content_part.added 0 msg_0abc-w1: text
response.output_text.delta 0 msg_0abc-w1: Good day.
response.output_text.done 0 msg_0abc-w1: Good day.
response.content_part.done 0 msg_0abc-w1: text Good day.
conversation.item.done msg_0abc-w1 behind item_0abc-1: assistant completed [output_text Good day.]
response.output_item.done 0 msg_0abc-w1: assistant completed [output_text Good day.]
response.done resp_0abc-w1 completed
rate_limits.updated
"""

ASIDE = """
response.created resp_0abc-w1 in_progress no conversation
response.output_item.added 0 msg_0abc-w1: assistant in_progress []
response.content_part.added 0 msg_0abc-w1: text
response.output_text.delta 0 msg_0abc-w1: Aside
response.output_text.done 0 msg_0abc-w1: Aside
response.content_part.done 0 msg_0abc-w1: text Aside
response.output_item.done 0 msg_0abc-w1: assistant completed [output_text Aside]
response.done resp_0abc-w1 completed no conversation
rate_limits.updated
"""

SILENT = """
input_audio_buffer.timeout_triggered item_0abc-1 from 2000 to 7000
input_audio_buffer.committed item_0abc-1 behind None
conversation.item.added item_0abc-1 behind None: user completed [input_audio None]
conversation.item.done item_0abc-1 behind None: user completed [input_audio None]
response.created resp_0abc-1 in_progress
"""

DROPPED = """
input_audio_buffer.speech_started item_0abc-1 at 0
conversation.item.input_audio_transcription.delta item_0abc-1: Hm
input_audio_buffer.speech_stopped item_0abc-1 at 900
conversation.item.input_audio_transcription.failed item_0abc-1: it was no speech
"""


def item_line(item: dict) -> str:
    head = f"{item.get('role', item['type'])} {item['status']}"
    if "content" not in item:
        return head
    parts = [f"{c['type']} {c.get('text', c.get('transcript'))}" for c in item["content"]]
    return f"{head} [{', '.join(parts)}]"


def line(event: dict) -> str:
    """One event, shortly: what it is of, where it stands, what it says."""
    kind = event["type"]
    item = event.get("item", {})
    words = [kind]
    if "output_index" in event:
        words.append(str(event["output_index"]))
    words += [x for x in (event.get("item_id") or item.get("id"), event.get("call_id")) if x]
    if "response" in event:
        response = event["response"]
        words += [response["id"], response["status"]]
        words += [(response["status_details"] or {}).get("reason", "")]
        words += ["no conversation"] if response["conversation_id"] is None else []
    if "previous_item_id" in event:
        words.append(f"behind {event['previous_item_id']}")
    for name in ("audio_start_ms", "audio_end_ms"):
        if name in event and kind != "input_audio_buffer.timeout_triggered":
            words.append(f"at {event[name]}")
    if kind == "input_audio_buffer.timeout_triggered":
        words.append(f"from {event['audio_start_ms']} to {event['audio_end_ms']}")
    if kind == "error":
        words.append(event["error"]["code"])
    said = says(event)
    return " ".join(word for word in words if word) + (f": {said}" if said else "")


def says(event: dict) -> str:
    if "item" in event:
        return item_line(event["item"])
    if "part" in event:
        part = event["part"]
        return f"{part['type']} {part.get('text', part.get('transcript'))}".strip()
    if event["type"] == "response.output_audio.delta":
        return f"{len(event['delta']) * 3 // 4 // 48} ms"
    if event["type"].endswith("transcription.failed"):
        return event["error"]["message"]
    for name in ("delta", "transcript", "text"):
        if name in event:
            at = f" at {event['start_time']}" if "start_time" in event else ""
            return event[name].strip() + at
    return f"{event['name']} {event['arguments']}" if "arguments" in event else ""


def trace(events: list[dict]) -> list[str]:
    return [line(event) for event in events]


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def opened() -> WireClient:
    client = WireClient()
    client.events()
    return client


def answer(client: WireClient, text: str) -> str:
    key = client.session.answer_turn()
    client.session.say(key, text)
    return key


def test_a_turn_by_server_vad_and_its_answer():
    client = opened()
    client.session.hear_turn()
    assert trace(client.events()) == lines(TURN)
    client.session.finish(answer(client, "Good day."))
    assert trace(client.events()) == lines(SPOKEN)


def test_calls_of_tools():
    client = opened()
    client.session.hear_turn()
    client.events()
    key = client.session.answer_turn()
    client.session.call(key, "look", '{"a": 1}', "call_1")
    client.session.call(key, "see", "{}", "call_2")
    client.session.finish(key)
    assert trace(client.events()) == lines(CALLS)


def test_a_call_behind_what_is_said_waits_for_its_end():
    client = opened()
    client.session.hear_turn()
    client.events()
    key = answer(client, "Let me see.")
    client.session.call(key, "look", "{}", "call_1")
    client.session.say(key, " Hm.")
    client.session.finish(key)
    kinds = [(e["type"], e["output_index"]) for e in client.events() if "output_index" in e]
    assert kinds[-5:] == [
        ("response.output_item.done", 0),
        ("response.output_item.added", 1),
        ("response.function_call_arguments.delta", 1),
        ("response.function_call_arguments.done", 1),
        ("response.output_item.done", 1),
    ]


def test_an_interruption():
    client = opened()
    client.session.hear_turn()
    key = client.session.answer_turn()
    client.session.say(key, "Good day")
    client.events()
    item_id = client.session.begin_turn(3000)
    events = client.events()
    where = {"item_id": "msg_0abc-2", "content_index": 0}
    events += client.send("conversation.item.truncate", audio_end_ms=300, **where)
    client.session.end_turn(item_id, 4000)
    client.session.commit_turn(item_id)
    events += client.events()
    assert trace(events) == lines(INTERRUPTED)


def test_a_turn_that_the_client_ends():
    client = opened()
    client.update(audio={"input": {"turn_detection": None}})
    assert client.append(bytes(4800)) == []
    events = client.send("input_audio_buffer.commit") + client.send("response.create")
    assert trace(events) == lines(MANUAL)


def test_items_that_the_client_creates():
    client = opened()

    def create(role: str, text: str, item_id: str | None, **where) -> list[dict]:
        kind = "output_text" if role == "assistant" else "input_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        item |= {"id": item_id} if item_id else {}
        return client.send("conversation.item.create", item=item, **where)

    events = create("user", "Hi", "mine")
    events += create("system", "Rhyme.", "first", previous_item_id="root")
    events += create("assistant", "Ho", None, previous_item_id="first")
    events += create("user", "Hi", "mine")
    assert trace(events) == lines(CREATED)
    assert [item.item_id for item in client.session.items] == ["first", "item_0abc-w1", "mine"]


def test_an_answer_in_text_alone():
    client = opened()
    client.session.hear_turn()
    client.events()
    events = client.send("response.create", response={"output_modalities": ["text"]})
    client.session.say("resp_0abc-w1", "Good day.", sound=False)
    client.session.finish("resp_0abc-w1")
    assert trace(events + client.events()) == lines(WRITTEN)
    assert not client.session.asked[0].answering.spoken


def test_a_response_beside_the_conversation():
    client = opened()
    client.session.hear_turn()
    client.events()
    answer(client, "Good day.")
    client.events()
    asked = {"conversation": "none", "output_modalities": ["text"], "input": []}
    events = client.send("response.create", response=asked)
    client.session.say("resp_0abc-w1", "Aside", sound=False)
    client.session.finish("resp_0abc-w1")
    assert trace(events + client.events()) == lines(ASIDE)
    assert client.session.asked[0].given == ()
    assert not client.session.asked[0].in_conversation
    client.session.finish("resp_0abc-2")
    assert client.events()[-2]["response"]["status"] == "completed"


def test_nobody_says_anything():
    client = opened()
    client.session.commit_turn("item_0abc-1", idle=(2000, 7000))
    client.session.answer_turn()
    assert trace(client.events()) == lines(SILENT)


def test_a_turn_of_which_nothing_came():

    client = opened()
    item_id = client.session.begin_turn()
    client.session.tell(TurnTranscript(item_id, "Hm", "Hm", final=False))
    client.session.end_turn(item_id, 900, dropped="it was no speech")
    assert trace(client.events()) == lines(DROPPED)


def test_a_response_that_is_asked_for_as_another_ends_is_told_behind_it():
    """The session ends the one in a thread of its own, just before it takes the other."""
    client = opened()
    first = client.session.answer_turn()
    client.session.say(first, "Well.")
    client.events()
    respond = client.session.respond

    def respond_late(request) -> None:
        client.session.finish(first)
        respond(request)
        client.session.say(request.key, "Again.")

    client.session.respond = respond_late
    client.send("response.create")
    kinds = [e["type"] for e in map(json.loads, client.texts) if e["type"].startswith("response.")]
    assert kinds.index("response.done") < len(kinds) - 1 - kinds[::-1].index("response.created")
    assert kinds[-1] == "response.output_audio.delta"
