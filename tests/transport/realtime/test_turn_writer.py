"""What is told of the person's turns."""

from __future__ import annotations

import json

import pytest

from s2s.core.events import (
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.transport.realtime.send_queue import SendQueue
from s2s.transport.realtime.turn_writer import TurnWriter


def told(*events) -> list[dict]:
    queue = SendQueue("c")
    writer = TurnWriter(queue)
    for event in events:
        writer.tell(event)
    found = []
    while (text := queue.take()) is not None:
        found.append(json.loads(text.text))
    return found


def words(text: str, stable: str, *, final: bool = False) -> TurnTranscript:
    return TurnTranscript("i", text, stable, final, 1.5)


def test_words_are_told_as_they_become_certain_and_once():
    events = told(
        words("what", ""),
        words("what time", "what"),
        words("what time is", "what"),
        words("what time is it", "what time is it", final=True),
    )
    assert [event.get("delta", event.get("transcript")) for event in events] == [
        "what",
        " time is it",
        "what time is it",
    ]
    assert events[-1]["usage"] == {"type": "duration", "seconds": 1.5}


def test_words_that_were_shown_are_withdrawn_when_nothing_comes_of_the_turn():
    began, ended = TurnBegan("i", 10), TurnEnded("i", 500, "no speech")
    kinds = [event["type"] for event in told(began, words("hm", "hm"), ended)]
    assert kinds[-1] == "conversation.item.input_audio_transcription.failed"
    assert [event["type"] for event in told(began, words("hm", ""), ended)] == [
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
    ]


def test_a_transcription_that_failed_says_why():
    (event,) = told(TurnTranscriptFailed("i", "the recogniser is gone"))
    assert event["error"] == {
        "type": "transcription_error",
        "message": "the recogniser is gone",
    }


@pytest.mark.parametrize("idle", [None, (1000, 6000)])
def test_a_commit_is_an_item(idle):
    events = told(TurnCommitted("i", "before", idle))
    if idle is not None:
        silence = events.pop(0)
        assert (silence["audio_start_ms"], silence["audio_end_ms"]) == idle
    assert [event["type"] for event in events] == [
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
    ]
    assert {event["previous_item_id"] for event in events} == {"before"}
