"""What the outside is told of a turn's words, and where partial transcripts go."""

from __future__ import annotations

from s2s.core.audio import empty
from s2s.core.channel import Channel
from s2s.core.events import Event, Heard, ResponseDone, ResponseStarted
from s2s.core.messages import LlmInput, PartialTranscript, ResponseId, Speech, SttInput, TurnId
from s2s.session.transcripts import MAX_TURNS, FinalTranscripts, PartialRoute
from s2s.turns.handler import TurnInput


def partial(turn_id: str, text: str) -> PartialTranscript:
    return PartialTranscript(text, "", TurnId(turn_id, 0), 512)


def response(turn_id: str) -> ResponseId:
    return ResponseId(turn_id, 0, 0, "r")


def test_the_last_words_are_final_when_the_answer_begins() -> None:
    told: list[Event] = []
    finals = FinalTranscripts(told.append)
    for text in ("what", "what time is it"):
        finals.on_partial(partial("t", text))
    finals.on_event(ResponseStarted(response("t")))
    assert told == [
        Heard(TurnId("t", 0), "what time is it", final=True),
        ResponseStarted(response("t")),
    ]


def test_turns_that_are_answered_or_never_are_do_not_pile_up() -> None:
    told: list[Event] = []
    finals = FinalTranscripts(told.append)
    finals.on_partial(partial("answered", "hello"))
    finals.on_event(ResponseDone(response("answered"), "completed", "Hi."))
    for number in range(MAX_TURNS + 1):
        finals.on_partial(partial(f"noise {number}", "mm"))
    told.clear()
    for turn_id in ("answered", "noise 0", "noise 1"):
        finals.on_event(ResponseStarted(response(turn_id)))
    assert [event.text for event in told if isinstance(event, Heard)] == ["", "", "mm"]


def test_partials_are_read_ahead_only_while_nothing_newer_is_on_its_way() -> None:
    turns: Channel[TurnInput] = Channel(8)
    speech: Channel[SttInput] = Channel(8)
    transcripts: Channel[LlmInput] = Channel(8)
    route = PartialRoute(FinalTranscripts(lambda _: None), turns, speech, transcripts)
    route.send(partial("t", "one"))
    assert (len(turns), len(transcripts)) == (1, 1)
    route.send(partial("t", "one two"))
    assert (len(turns), len(transcripts)) == (2, 1), "the first one has not been read yet"
    transcripts.get()
    newer = Speech(empty(), TurnId("t", 0), 0, False, 0.0)
    speech.put(newer)
    route.send(partial("t", "one two three"))
    assert (len(turns), len(transcripts)) == (3, 0), "its successor is being heard"


def test_a_stage_that_is_behind_is_passed_over() -> None:
    turns: Channel[TurnInput] = Channel(1)
    speech: Channel[SttInput] = Channel(1)
    transcripts: Channel[LlmInput] = Channel(1)
    route = PartialRoute(FinalTranscripts(lambda _: None), turns, speech, transcripts)
    for text in ("one", "two"):
        route.send(partial("t", text))
    assert turns.get() == partial("t", "one")
    assert len(turns) == 0
