"""What a client asks of a Realtime server, in the protocol's own shapes."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.untyped import is_object
from s2s.transport.remote.wishes import (
    Json,
    RemoteWishes,
    append,
    session_update,
    sound_of,
    truncate,
)


def at(event: Json, *path: str) -> object:
    value: object = event
    for name in path:
        assert is_object(value)
        value = value[name]
    return value


def test_unasked_the_server_finds_the_turns_and_chooses_voice_and_language() -> None:
    event = session_update(RemoteWishes())
    assert event["type"] == "session.update"
    assert at(event, "session", "type") == "realtime"
    heard = at(event, "session", "audio", "input")
    assert is_object(heard)
    assert at(heard, "turn_detection", "type") == "semantic_vad"
    assert at(heard, "turn_detection", "create_response") is True
    assert at(heard, "turn_detection", "interrupt_response") is True
    transcription = heard["transcription"]
    assert is_object(transcription)
    assert "language" not in transcription
    assert "voice" not in str(at(event, "session", "audio", "output"))


def test_both_ways_have_one_rate() -> None:
    event = session_update(RemoteWishes())
    for way in ("input", "output"):
        wanted = {"type": "audio/pcm", "rate": 24_000}
        assert at(event, "session", "audio", way, "format") == wanted


def test_what_the_person_wishes_is_asked_for() -> None:
    event = session_update(RemoteWishes("ben", "de", push_to_talk=True))
    assert at(event, "session", "audio", "output", "voice") == "ben"
    assert at(event, "session", "audio", "input", "transcription", "language") == "de"
    assert at(event, "session", "audio", "input", "turn_detection") is None
    json.dumps(event)


def test_sound_is_sent_as_little_endian_samples() -> None:
    event = append(np.array([0.0, 0.5, -1.0, 2.0], np.float32))
    assert event["type"] == "input_audio_buffer.append"
    pcm = base64.b64decode(str(event["audio"]))
    assert np.frombuffer(pcm, "<i2").tolist() == [0, 16384, -32768, 32767]


def test_what_was_not_heard_is_cut_by_the_millisecond() -> None:
    assert truncate("item_1", 640) == {
        "type": "conversation.item.truncate",
        "item_id": "item_1",
        "content_index": 0,
        "audio_end_ms": 640,
    }


@given(st.lists(st.integers(-32768, 32767), max_size=50))
def test_sound_comes_back_as_it_was_sent(samples: list[int]) -> None:
    block = (np.array(samples, np.float64) / 32768).astype(np.float32)
    assert np.array_equal(sound_of(str(append(block)["audio"])), block)


@pytest.mark.parametrize("delta", ["AAA", "A AAA", "ä", "AA==", "AAAAAA==AAAA", "!!!!"])
def test_what_is_no_sound_is_refused(delta: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        sound_of(delta)
