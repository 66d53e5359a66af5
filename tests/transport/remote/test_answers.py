"""A Realtime server's events as those of a session: in order, once, and none of what is unknown."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from s2s.core.clock import ManualClock
from s2s.core.events import (
    AnswerText,
    Event,
    Heard,
    Interruption,
    NothingHeard,
    Notice,
    ResponseDone,
    ResponseStarted,
    SpeechStarted,
    SpeechStopped,
    ToolCalled,
)
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Metrics
from s2s.transport.playback import Playback
from s2s.transport.remote.answers import KEPT, RemoteAnswers, text_at
from s2s.transport.remote.loudspeaker import WIRE_HZ, RemoteSpeech
from s2s.transport.remote.wishes import Json

TICK = 240


def delta(seconds: float) -> str:
    samples = np.full(round(seconds * WIRE_HZ), 3000, dtype="<i2")
    return base64.b64encode(samples.tobytes()).decode()


class Talk:
    """A conversation with a server that says what it is told to, before a loudspeaker."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.events: list[Event] = []
        self.playback = Playback(self.clock, WIRE_HZ, capacity_s=0.5)
        self.speech = RemoteSpeech(self.playback, self.clock)
        self.answers = RemoteAnswers(self.speech, self.events.append, self.clock, Metrics())

    def take(self) -> list[Event]:
        events = list(self.events)
        self.events.clear()
        return events

    def begin(self, response: str = "r1", item: str = "i1") -> None:
        """A response with one message."""
        self.answers.created({"response": {"id": response}})
        self.added(item, response)

    def added(self, item: str, response: str = "r1", kind: str = "message") -> None:
        self.answers.item_added({"response_id": response, "item": {"id": item, "type": kind}})

    def say(self, words: str, seconds: float = 0.0, item: str = "i1") -> None:
        self.answers.words({"item_id": item, "delta": words})
        if seconds:
            self.answers.sound({"item_id": item, "delta": delta(seconds)})

    def done(self, status: str = "completed", response: str = "r1", error: object = None) -> None:
        told: dict[str, object] = {
            "id": response,
            "status": status,
            "status_details": {"error": error},
        }
        self.answers.done({"response": told})

    def play(self, seconds: float) -> None:
        """Let the loudspeaker play, and tell what it played to the end."""
        for _ in range(round(seconds * WIRE_HZ / TICK)):
            self.clock.wait_until(self.clock.now() + TICK / WIRE_HZ)
            self.playback.pull(np.empty(TICK, dtype=np.float32))
            for report in self.playback.reports():
                if report.what == "finished":
                    self.answers.played(report.response.response_key or "")

    def close(self) -> None:
        self.speech.close()


def shown(events: list[Event]) -> list[str]:
    return [each.text for each in events if isinstance(each, AnswerText)]


def test_a_text_is_found_by_its_path_or_there_is_none() -> None:
    event: Json = {"a": {"b": "c", "n": 3}, "t": "x"}
    assert text_at(event, "a", "b") == "c"
    for path in (("a",), ("a", "n"), ("t", "b"), ("z",), ("a", "b", "c")):
        assert text_at(event, *path) == ""


# --- the person ----------------------------------------------------------------------------------


def test_what_the_person_does_is_told_of_one_turn() -> None:
    talk = Talk()
    talk.answers.speech_started("p1")
    talk.clock.wait_until(2.0)
    talk.answers.speech_stopped("p1", 1.4)
    talk.answers.committed("p1")
    turn = TurnId("p1", 0)
    assert talk.take() == [SpeechStarted(turn, 0.0), SpeechStopped(turn, 2.0)]
    assert talk.answers.turn == turn
    talk.close()


def test_words_grow_and_are_told_whole_at_the_end() -> None:
    talk = Talk()
    for words in ("What ", "time"):
        talk.answers.transcription({"item_id": "p1", "delta": words}, "delta")
    talk.answers.transcription({"item_id": "p1", "transcript": " What time? "}, "completed")
    turn = TurnId("p1", 0)
    assert talk.take() == [
        Heard(turn, "What", final=False),
        Heard(turn, "What time", final=False),
        Heard(turn, "What time?", final=True),
    ]
    talk.close()


@pytest.mark.parametrize(
    ("kind", "event"),
    [("completed", {"transcript": "  "}), ("failed", {}), ("failed", {"transcript": "x"})],
)
def test_without_words_nothing_was_heard(kind: str, event: dict[str, object]) -> None:
    talk = Talk()
    talk.answers.transcription({"item_id": "p1"} | event, kind)
    talk.answers.transcription({"item_id": "p1", "segment": "x"}, "segment")
    assert talk.take() == [NothingHeard(TurnId("p1", 0))]
    talk.close()


# --- the answer ----------------------------------------------------------------------------------


def test_an_answer_is_shown_by_sentences_and_done_when_it_was_played() -> None:
    talk = Talk()
    talk.answers.committed("p1")
    talk.begin()
    assert talk.answers.running == "r1"
    talk.say("Good ")
    talk.say("day. ", 0.2)
    talk.say("And ")
    talk.say("night", 0.2)
    (started, first) = talk.take()
    assert started == ResponseStarted(ResponseId("p1", 0, 0, "r1"))
    assert first == AnswerText(ResponseId("p1", 0, 1, "i1"), "Good day. ")
    talk.answers.words_done({"item_id": "i1"})
    assert shown(talk.take()) == ["And night"]
    talk.answers.words_done({"item_id": "i1"})
    talk.answers.sound_done({"item_id": "i1"})
    talk.done()
    assert talk.answers.running == ""
    assert talk.take() == []  # it is made, and not yet played
    talk.play(0.3)
    assert talk.take() == []
    talk.play(0.3)
    (done,) = talk.take()
    assert isinstance(done, ResponseDone)
    assert (done.status, done.played, done.error) == ("completed", "Good day. And night", None)
    talk.close()


def test_an_answer_without_sound_is_done_at_once() -> None:
    talk = Talk()
    talk.begin()
    talk.say("Read this")
    talk.done()
    events = talk.take()
    assert shown(events) == ["Read this"]
    assert isinstance(events[-1], ResponseDone)
    talk.close()


def test_what_a_server_leaves_open_is_ended_with_its_response() -> None:
    talk = Talk()
    talk.begin()
    talk.say("Hi", 0.1)
    talk.done()
    talk.say(" late", 0.1)
    talk.play(0.4)
    events = talk.take()
    assert isinstance(events[-1], ResponseDone)
    assert shown(events) == ["Hi"]
    assert not talk.speech.sounding
    talk.close()


@pytest.mark.parametrize(
    ("status", "details", "told", "error"),
    [
        ("completed", {}, "completed", None),
        ("incomplete", {}, "completed", None),
        ("cancelled", {}, "cancelled", None),
        ("failed", {"error": {"message": "no model", "code": "x"}}, "failed", "no model"),
        ("failed", {"error": {"code": "x"}}, "failed", "x"),
        ("failed", {}, "failed", "the server does not say why"),
    ],
)
def test_how_an_answer_ended_is_told(
    status: str, details: dict[str, object], told: str, error: str | None
) -> None:
    talk = Talk()
    talk.begin()
    talk.done(status, error=details.get("error"))
    done = talk.take()[-1]
    assert isinstance(done, ResponseDone)
    assert (done.status, done.error) == (told, error)
    talk.close()


def test_a_tool_that_is_called_is_told() -> None:
    talk = Talk()
    talk.begin()
    talk.added("c1", kind="function_call")
    call = {"id": "c1", "type": "function_call", "name": "look", "arguments": "{}"}
    talk.answers.item_done({"response_id": "r1", "item": call})
    talk.answers.item_done({"response_id": "r1", "item": {"id": "i1", "type": "message"}})
    assert talk.take()[1:] == [ToolCalled(ResponseId("", 0, 0, "r1"), "look", "{}")]
    talk.close()


def test_of_what_is_not_known_nothing_is_told() -> None:
    talk = Talk()
    talk.added("i9", "r9")
    talk.say("who", 0.1, "i9")
    talk.answers.words_done({"item_id": "i9"})
    talk.answers.sound_done({"item_id": "i9"})
    talk.answers.item_done({"response_id": "r9", "item": {"type": "function_call"}})
    talk.done(response="r9")
    talk.answers.played("i9")
    assert talk.take() == []
    assert not talk.speech.sounding
    talk.close()


def test_sound_that_cannot_be_read_is_told_and_the_rest_is_played() -> None:
    talk = Talk()
    talk.begin()
    talk.answers.sound({"item_id": "i1", "delta": "no sound!"})
    notice = talk.take()[-1]
    assert isinstance(notice, Notice)
    assert "cannot be read" in notice.text
    talk.say("Hi.", 0.1)
    talk.done()
    talk.play(0.3)
    assert isinstance(talk.take()[-1], ResponseDone)
    talk.close()


def test_an_answer_of_several_items_is_done_after_the_last() -> None:
    talk = Talk()
    talk.begin()
    talk.say("One.", 0.1)
    talk.answers.sound_done({"item_id": "i1"})
    talk.added("i2")
    talk.say("Two.", 0.1, "i2")
    talk.done()
    talk.play(0.15)
    assert not any(isinstance(each, ResponseDone) for each in talk.take())
    talk.play(0.2)
    (done,) = talk.take()
    assert isinstance(done, ResponseDone)
    assert done.played == "One. Two."
    talk.close()


# --- what ends it --------------------------------------------------------------------------------


def test_what_is_cut_was_heard_so_far_and_is_told_as_cancelled() -> None:
    talk = Talk()
    talk.begin()
    talk.say("A long answer", 0.4)
    talk.done()
    talk.play(0.1)
    talk.take()
    assert talk.answers.cut("speech") == [("i1", 100)]
    interruption, done = talk.take()
    assert interruption == Interruption("cancel", 0, "speech")
    assert isinstance(done, ResponseDone)
    assert done.status == "cancelled"
    assert talk.answers.cut("speech") == []
    assert talk.take() == []
    talk.close()


def test_what_comes_of_an_item_that_was_cut_is_not_played() -> None:
    talk = Talk()
    talk.begin()
    talk.say("A long ", 0.2)
    talk.play(0.05)
    talk.answers.cut("speech")
    talk.say("answer.", 0.2)
    assert not talk.speech.sounding
    talk.done("cancelled")
    done = talk.take()[-1]
    assert isinstance(done, ResponseDone)
    assert done.status == "cancelled"
    talk.close()


def test_without_a_socket_what_runs_is_over_once() -> None:
    talk = Talk()
    talk.begin()
    talk.say("Half an ")
    talk.take()
    talk.answers.lost()
    talk.answers.lost()
    events = talk.take()
    assert shown(events) == ["Half an "]
    (done,) = [each for each in events if isinstance(each, ResponseDone)]
    assert (done.response.response_key, done.status) == ("r1", "cancelled")
    assert talk.answers.running == ""
    talk.close()


def test_so_many_items_are_known() -> None:
    talk = Talk()
    talk.begin(item="i0")
    for number in range(1, KEPT + 1):
        talk.added(f"i{number}")
    talk.take()
    talk.say("gone.", item="i0")
    talk.say("here.", item="i1")
    assert shown(talk.take()) == ["here."]
    talk.done()
    done = talk.take()[-1]
    assert isinstance(done, ResponseDone)
    assert done.played.strip() == "here."
    talk.close()
