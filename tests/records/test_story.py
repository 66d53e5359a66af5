"""What happened in a conversation, read off its events."""

from __future__ import annotations

import typing

from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.events import (
    AnswerText,
    Event,
    Heard,
    Interruption,
    MicrophoneState,
    NothingHeard,
    NothingSpoken,
    Notice,
    ResponseDone,
    ResponseStarted,
    SpeechDropped,
    SpeechStarted,
    SpeechStopped,
    StopHeard,
    TakenBack,
    ToolCalled,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Timeline
from s2s.records.story import told
from tests.support.records import talked_over

TURN = TurnId("s1-1", 0)
RESPONSE = ResponseId("s1-1", 0, 0, None)


def test_a_question_and_its_answer() -> None:
    timeline = Timeline(TURN, {"speech_stopped": 2.0, "first_played": 2.5})
    story = told(
        [
            (1.0, SpeechStarted(TURN, 0.9)),
            (2.1, SpeechStopped(TURN, 2.0)),
            (2.2, Heard(TURN, "what is", False)),
            (2.4, ResponseStarted(RESPONSE)),
            (2.4, Heard(TURN, "what is it", True)),
            (2.4, AnswerText(RESPONSE, "It is ")),
            (2.6, AnswerText(RESPONSE, "late.")),
            (4.0, ResponseDone(RESPONSE, "completed", "It is late.")),
        ],
        [timeline],
    )
    (turn,), (answer,) = story.turns, story.answers
    assert (turn.text, turn.spans, turn.unanswered) == ("what is it", [(0.9, 2.0)], "")
    assert (answer.began_s, answer.ended_s, answer.text) == (2.5, 4.0, "It is late.")
    assert answer.status == "completed"
    assert answer.timeline is timeline
    assert story.answers_to(turn) == [answer]
    assert story.marks == []


def test_what_was_not_answered_says_why() -> None:
    turns = [TurnId(f"s1-{number}", 0) for number in range(3)]
    story = told(
        [
            (1.0, SpeechDropped(turns[0], "hello Anna", "another voice")),
            (2.0, NothingHeard(turns[1])),
            (3.0, StopHeard(turns[2], "stop")),
        ],
        [],
    )
    assert [turn.unanswered for turn in story.turns] == [
        "another voice", "no words were heard", "a stop phrase: nothing is to answer it",
    ]  # fmt: skip
    assert story.of_kind("dropped")[0].detail == "another voice: hello Anna"


def test_marks_say_what_happened() -> None:
    story = told(
        [
            (1.0, Interruption("cancel", 16_000, "words")),
            (2.0, ToolCalled(RESPONSE, "weather", "{}")),
            (3.0, NothingSpoken(RESPONSE, "```")),
            (4.0, Notice("the microphone is gone")),
            (5.0, MicrophoneState("muted")),
            (6.0, TurnTranscriptFailed("item_s1-1", "timed out")),
            (7.0, ResponseDone(RESPONSE, "failed", "", "the model is gone")),
        ],
        [],
    )
    assert [mark.kind for mark in story.marks] == [
        "interruption", "tool", "notice", "notice", "notice", "failed", "failed",
    ]  # fmt: skip
    assert story.answers[0].why == "the model is gone"


def test_an_answer_that_was_taken_back_is_none() -> None:
    story = told([(1.0, TakenBack(RESPONSE, "It"))], [])
    assert story.answers == []
    assert story.of_kind("taken back")[0].detail == "It"


def test_the_words_of_a_clients_turn() -> None:
    story = told(
        [
            (1.0, SpeechStarted(TURN, 1.0)),
            (2.0, TurnTranscript("item_s1-1", "hello", "hello", True, 1.0)),
        ],
        [],
    )
    assert [turn.text for turn in story.turns] == ["hello"]


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.one_of([st.from_type(k) for k in typing.get_args(Event)])),
        max_size=20,
    )
)
def test_any_events_make_a_story(events: list[tuple[float, Event]]) -> None:
    story = told(events, [])
    assert len(story.answers) <= len(events)
    assert [mark.at_s for mark in story.marks] == sorted(mark.at_s for mark in story.marks)


def test_a_simulated_conversation() -> None:
    simulation = talked_over().run()
    story = told(simulation.events, simulation.metrics.finished())
    assert [turn.text for turn in story.turns] == [said.text for said in simulation.said]
    statuses = [answer.status for answer in story.answers]
    assert statuses.count("cancelled") == 1
    assert statuses.count("completed") == len(statuses) - 1 >= 3
    assert len(story.turns[0].spans) == 2, "a pause within the question"


def test_what_was_typed_and_what_nobody_asked_for_stand_where_they_were() -> None:
    asked = ResponseId("r1", 0, 0, "resp_1")
    story = told(
        [
            (1.0, SpeechStarted(TURN, 1.0)),
            (9.0, Heard(TurnId("typed", 0), "hello", True)),
            (12.0, ResponseStarted(asked)),
            (13.0, ResponseDone(asked, "completed", "Yes?")),
        ],
        [],
    )
    assert [(turn.began_s, turn.text) for turn in story.turns] == [(1.0, ""), (9.0, "hello")]
    assert [answer.began_s for answer in story.answers] == [12.0]
