"""The last stage: every response that is opened is ended once, whatever happened to it."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import (
    AnswerText,
    Event,
    NothingSpoken,
    ResponseDone,
    ResponseStarted,
    ToolCalled,
)
from s2s.core.messages import (
    AssistantText,
    AudioOut,
    AudioResponseDone,
    ResponseId,
    SenderInput,
    SessionEnd,
    ToolCall,
    TurnId,
)
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.transport.playback import Playback
from s2s.transport.sender import Sender

TURN = TurnId("t", 0)
ANSWER = ResponseId("t", 0, 0, "a")
HZ = 16_000
BLOCK = np.full(512, 0.25, np.float32)


class Rig:
    """A sender whose playback is pulled by the test."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.scope, self.turns = CancelScope(self.clock), SpeculativeTurns(self.clock)
        self.events: list[Event] = []
        self.played: list[tuple[str, bool]] = []
        state = SessionState(self.scope, self.turns, self.clock, Metrics(), self.events.append)
        self.playback = Playback(self.clock, HZ)
        self.sender = Sender(
            self.playback, state, lambda _, text, whole: self.played.append((text, whole))
        )
        self.turns.observe(TURN)
        self.turns.set_grace(TURN, 0.0)
        assert self.turns.commit(TURN)

    def send(self, *messages: SenderInput) -> None:
        for message in messages:
            assert list(self.sender.process(message)) == []

    def play(self, samples: int = 512) -> np.ndarray:
        out = np.zeros(samples, np.float32)
        self.playback.pull(out)
        for report in self.playback.reports():
            self.sender.on_played(report)
        return out

    def ends(self) -> list[tuple[str, str, str | None]]:
        return [
            (each.status, each.played, each.error)
            for each in self.events
            if isinstance(each, ResponseDone)
        ]


def said(text: str, response: ResponseId = ANSWER) -> list[SenderInput]:
    return [AssistantText(text, response), AudioOut(BLOCK, response, text)]


def test_an_answer_is_started_said_played_and_done() -> None:
    rig = Rig()
    rig.send(*said("Yes."), AudioResponseDone(ANSWER))
    assert rig.events == [ResponseStarted(ANSWER), AnswerText(ANSWER, "Yes.")]
    assert np.array_equal(rig.play(), BLOCK)
    assert rig.ends() == [("completed", "Yes.", None)]
    assert rig.played == [("Yes.", True)]
    assert len(rig.sender.responses) == 0


def test_an_answer_without_sound_is_done_at_once() -> None:
    rig = Rig()
    rig.send(AudioResponseDone(ANSWER))
    assert rig.ends() == [("completed", "", None)]


def test_calls_and_what_could_not_be_spoken_are_told_in_their_place() -> None:
    rig = Rig()
    rig.send(ToolCall("lamp", "{}", ANSWER))
    rig.send(AssistantText("I can only show it.", ANSWER, instead_of="|a|b|"))
    assert rig.events[1:] == [
        ToolCalled(ANSWER, "lamp", "{}"),
        NothingSpoken(ANSWER, "|a|b|"),
        AnswerText(ANSWER, "I can only show it."),
    ]


def test_an_interruption_ends_it_as_cancelled_with_what_was_played() -> None:
    rig = Rig()
    rig.send(*said("Yes."), *said(" And on."))
    rig.play(512)
    rig.scope.cancel()
    rig.sender.interrupt()
    assert rig.ends() == [("cancelled", "Yes.", None)]
    assert not rig.play().any()
    rig.send(*said("Stale."), AudioResponseDone(ANSWER))
    assert len(rig.ends()) == 1
    assert AnswerText(ANSWER, "Stale.") not in rig.events


def test_a_failure_before_any_sound_is_heard_as_a_tone() -> None:
    rig = Rig()
    rig.send(AudioResponseDone(ANSWER, error="no voice"))
    assert rig.ends() == []
    assert np.abs(rig.play(HZ // 5)).max() > 0.1
    rig.play()
    assert rig.ends() == [("failed", "", "no voice")]


def test_a_failure_after_some_sound_lets_that_be_heard() -> None:
    rig = Rig()
    rig.send(*said("Yes."), AudioResponseDone(ANSWER, error="the voice broke"))
    assert np.array_equal(rig.play(), BLOCK)
    assert rig.ends() == [("failed", "Yes.", "the voice broke")]


def test_an_answer_that_is_withdrawn_is_silenced() -> None:
    rig = Rig()
    rig.send(*said("I think"), AudioResponseDone(ANSWER, cleanup_only=True))
    assert rig.ends() == [("cancelled", "", None)]
    assert not rig.play().any()


def test_giving_up_fails_what_is_open_audibly() -> None:
    rig = Rig()
    rig.send(*said("Yes."))
    rig.scope.cancel()
    rig.sender.give_up(None, "too slow")
    assert rig.ends() == [("failed", "", "too slow")]
    assert np.abs(rig.play(HZ // 5)).max() > 0.1


def test_giving_up_a_turn_that_was_never_answered_opens_and_fails_an_answer() -> None:
    rig = Rig()
    rig.scope.cancel()
    rig.sender.give_up(TURN, "too slow")
    rig.play(HZ // 5)
    rig.play()
    started = [each for each in rig.events if isinstance(each, ResponseStarted)]
    assert len(started) == 1
    assert rig.ends() == [("failed", "", "too slow")]


def test_giving_up_nothing_is_silent() -> None:
    rig = Rig()
    rig.sender.give_up(None, "too slow")
    assert rig.events == []
    assert not rig.play().any()


@pytest.mark.parametrize("went_on", [False, True])
def test_a_session_end_ends_what_is_stale_alone(went_on: bool) -> None:
    rig = Rig()
    rig.send(*said("Yes."))
    if not went_on:
        rig.scope.cancel()
    rig.send(SessionEnd("s"))
    assert len(rig.ends()) == 1  # the sound was dropped in any case, and cut off it ended


def test_what_began_provisionally_is_taken_back_without_a_trace() -> None:
    rig = Rig()
    turn, answer = TurnId("u", 0), ResponseId("u", 0, 0, "b")
    rig.turns.observe(turn)
    rig.turns.set_grace(turn, 9.0, provisional_from_s=0.0)
    assert rig.turns.begin_provisionally(turn)
    rig.send(*said("Yes.", answer))
    rig.play(256)
    rig.turns.observe(TurnId("u", 1))
    rig.sender.take_back()
    assert not rig.play().any()
    assert rig.ends() == []
    assert ResponseStarted(answer) not in rig.events
    assert rig.played == []


def test_a_provisional_answer_that_was_played_ends_once_it_is_certain() -> None:
    rig = Rig()
    turn, answer = TurnId("u", 0), ResponseId("u", 0, 0, "b")
    rig.turns.observe(turn)
    rig.turns.set_grace(turn, 1.0, provisional_from_s=0.0)
    assert rig.turns.begin_provisionally(turn)
    rig.send(*said("Yes.", answer), AudioResponseDone(answer))
    rig.play()
    assert rig.ends() == []
    rig.clock.wait_until(1.5)
    assert rig.turns.commit(turn)
    rig.sender.settle()
    assert rig.ends() == [("completed", "Yes.", None)]
