"""What a client asks of a Realtime server, in the protocol's own shapes. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import Block, from_int16, to_int16
from s2s.transport.remote.loudspeaker import WIRE_HZ

Json = Mapping[str, object]

TRANSCRIBER = "gpt-4o-mini-transcribe"
"""A name that every Realtime server knows; ours hears with what it has."""


@dataclass(frozen=True, slots=True)
class RemoteWishes:
    """How the person wants to talk; None leaves it to the server."""

    voice: str | None = None
    language: str | None = None
    """ISO 639-1 code of what is spoken."""
    push_to_talk: bool = False
    muted: bool = False
    """Begin muted."""
    echo_bar_db: float = 6.0
    """While something plays, what is not this much louder than its echo is no speech, dB."""


def session_update(wishes: RemoteWishes) -> Json:
    """The first event: 24 kHz both ways, and the server finds the turns unless a key does."""
    sound = {"type": "audio/pcm", "rate": WIRE_HZ}
    transcription = {"model": TRANSCRIBER}
    if wishes.language is not None:
        transcription["language"] = wishes.language
    turns = {
        "type": "semantic_vad",
        "eagerness": "auto",
        "create_response": True,
        "interrupt_response": True,
    }
    heard: dict[str, object] = {
        "format": sound,
        "transcription": transcription,
        "turn_detection": None if wishes.push_to_talk else turns,
    }
    spoken: dict[str, object] = {"format": sound}
    if wishes.voice is not None:
        spoken["voice"] = wishes.voice
    session = {"type": "realtime", "audio": {"input": heard, "output": spoken}}
    return {"type": "session.update", "session": session}


def append(block: Block) -> Json:
    """What the microphone heard: float32 [samples] at 24 kHz."""
    pcm = to_int16(block).astype("<i2").tobytes()
    return {"type": "input_audio_buffer.append", "audio": base64.b64encode(pcm).decode("ascii")}


def typed(item: str, text: str) -> Json:
    """A message of the person that was typed, by the name `item`."""
    content = [{"type": "input_text", "text": text}]
    message = {"id": item, "type": "message", "role": "user", "content": content}
    return {"type": "conversation.item.create", "item": message}


def truncate(item: str, heard_ms: int) -> Json:
    """Of an item, no more was heard than this."""
    return {
        "type": "conversation.item.truncate",
        "item_id": item,
        "content_index": 0,
        "audio_end_ms": heard_ms,
    }


def sound_of(delta: str) -> Block:
    """float32 [samples] of base64 text.

    Raises:
        ValueError: it is no base64 text of whole samples.
    """
    return from_int16(np.frombuffer(base64.b64decode(delta, validate=True), dtype="<i2"))
