"""Everything that our server ever sends, once: for parsers of others to read."""

from __future__ import annotations

import json
from dataclasses import dataclass

from s2s.core.events import TurnTranscript, TurnTranscriptFailed
from s2s.core.items import ToolItem
from tests.support.realtime_client import WireClient

TOOL = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}


@dataclass(frozen=True, slots=True)
class Corpus:
    """What of it is wanted."""

    pictures: bool = True
    """Items with pictures in them."""
    silence: bool = True
    """That nobody said anything for long."""
    transcription: bool = True
    """A session that only writes down."""
    calls: bool = True
    """What the server plays itself: told in calls over WebRTC alone."""
    tools: bool = True
    """Tools that the server calls itself, where a client is told of them."""
    failed_tools: bool = True
    """That such a tool gave nothing; its item tells the same."""


EVERYTHING = Corpus()


def corpus(wanted: Corpus = EVERYTHING) -> list[str]:
    """The texts of every kind of event, in conversations that hold every order."""
    texts = [*_conversation(), *_edits(), *_manual(), *_call()]
    if wanted.tools:
        texts += _own_tools()
    if wanted.transcription:
        texts += _transcription()
    if not wanted.pictures:
        texts = [text for text in texts if "input_image" not in text]
    if not wanted.silence:
        texts = [text for text in texts if "timeout_triggered" not in text]
    if not wanted.failed_tools:
        texts = [text for text in texts if "mcp_call.failed" not in text]
    if not wanted.calls:
        texts = [text for text in texts if "output_audio_buffer." not in text]
    return texts


def _conversation() -> list[str]:
    client = WireClient()
    audio = {
        "input": {
            "transcription": {"model": "whisper-1", "language": "en"},
            "turn_detection": {"type": "semantic_vad", "eagerness": "high"},
            "noise_reduction": {"type": "near_field"},
        },
        "output": {"voice": "marin", "speed": 1.1},
    }
    client.update(instructions="Be kind.", tools=[TOOL], audio=audio, tracing="auto")
    item_id = client.session.begin_turn(40)
    client.session.tell(TurnTranscript(item_id, "What is", "What", final=False))
    client.session.end_turn(item_id, 1500)
    client.session.commit_turn(item_id)
    client.session.words_of(item_id, "What is it?")
    key = client.session.answer_turn()
    client.session.say(key, "It is a conversation.")
    client.session.call(key, "look", '{"x": 1}', "call_0abc-1")
    client.session.call(key, "look", "{}", "call_0abc-2")
    client.session.finish(key)
    client.session.commit_turn("item_0abc-90", idle=(1500, 6500))
    client.session.tell(TurnTranscriptFailed("item_0abc-90", "nothing was said"))
    key = client.session.answer_turn()
    client.session.say(key, "Are you")
    client.session.begin_turn(7000)
    for status in ("failed", "incomplete"):
        key = client.session.answer_turn()
        client.session.say(key, "Well")
        client.session.finish(key, status, error="the model is gone")
    client.send("response.create", response={"metadata": {"topic": "x"}})
    client.send("response.create")
    client.send("response.cancel")
    client.events()
    return client.texts


def _edits() -> list[str]:
    client = WireClient()
    client.session.hear_turn("Look at this.")
    key = client.session.answer_turn()
    client.session.say(key, "one two three")
    client.session.finish(key)
    content = [
        {"type": "input_text", "text": "Hi"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA"},
    ]
    for item in (
        {"type": "message", "role": "user", "content": content},
        {"type": "message", "role": "user", "content": content[:1]},
        {"type": "message", "role": "system", "content": content[:1]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hello"}],
        },
        {"type": "function_call", "name": "look", "call_id": "c", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "seen"},
    ):
        client.send("conversation.item.create", item=item)
    spoken = client.session.items[1].item_id
    for audio_end_ms in (9000, 250):
        where = {"item_id": spoken, "content_index": 0, "audio_end_ms": audio_end_ms}
        client.send("conversation.item.truncate", **where)
    for item in list(client.session.items):
        client.send("conversation.item.retrieve", item_id=item.item_id)
        client.send("conversation.item.delete", item_id=item.item_id)
    client.send("conversation.item.retrieve", item_id="gone", event_id="e1")
    client.protocol.client_text("{")
    return client.texts


def _manual() -> list[str]:
    client = WireClient()
    client.update(audio={"input": {"turn_detection": None}}, output_modalities=["text"])
    client.send("input_audio_buffer.commit")
    client.append(bytes(9600))
    client.send("input_audio_buffer.clear")
    client.append(bytes(9600))
    client.send("input_audio_buffer.commit")
    (created,) = client.send("response.create")
    key = created["response"]["id"]
    client.session.say(key, "In writing.", sound=False)
    client.session.finish(key)
    client.events()
    aside = {"conversation": "none", "output_modalities": ["audio"], "input": []}
    (created,) = client.send("response.create", response=aside)
    key = created["response"]["id"]
    client.session.say(key, "By the way.")
    client.session.finish(key)
    client.events()
    return client.texts


def _call() -> list[str]:
    client = WireClient(call=True)
    client.session.hear_turn("Speak.")
    key = client.session.answer_turn()
    client.session.say(key, "It is played here.")
    client.session.finish(key)
    client.play(5_000)
    key = client.session.answer_turn()
    client.session.say(key, "And this is cut.")
    client.play(300)
    client.session.begin_turn(9_000)
    client.events()
    return client.texts


def _own_tools() -> list[str]:
    client = WireClient()
    client.session.hear_turn("What time is it?")
    key = client.session.answer_turn()
    client.session.use(key, ToolItem("item_call_1", "call_1", "current_time", "{}", "It is noon."))
    client.session.use(
        key, ToolItem("item_call_2", "call_2", "lamp", "{}", "Error: it is broken", failed=True)
    )
    client.session.say(key, "It is noon.")
    client.session.finish(key)
    client.send("conversation.item.retrieve", item_id="item_call_1")
    client.events()
    return client.texts


def _transcription() -> list[str]:
    client = WireClient()
    audio = {"input": {"transcription": {"model": "whisper-1"}}}
    client.update("transcription", audio=audio)
    client.session.hear_turn("Only written down.")
    client.events()
    return client.texts


def kinds(texts: list[str]) -> set[str]:
    return {json.loads(text)["type"] for text in texts}
