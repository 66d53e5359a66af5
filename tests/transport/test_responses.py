"""What is told of responses, and when, if they begin before it is certain that they are wanted."""

from __future__ import annotations

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import (
    AnswerText,
    Event,
    ProvisionalStart,
    ResponseDone,
    ResponseStarted,
    TakenBack,
)
from s2s.core.messages import ResponseId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.transport.playback import Played
from s2s.transport.responses import Responses

RESPONSE = ResponseId("t", 0, 0, "r")
TEXT = AnswerText(RESPONSE, "It is noon.")


class Rig:
    """Responses of a session in which one turn may be begun provisionally until 1 s."""

    def __init__(self, *, provisional: bool = True) -> None:
        self.clock = ManualClock()
        self.turns = SpeculativeTurns(self.clock)
        self.metrics = Metrics()
        self.events: list[Event] = []
        self.history: list[tuple[str, bool]] = []
        state = SessionState(
            CancelScope(self.clock), self.turns, self.clock, self.metrics, self.events.append
        )
        self.responses = Responses(
            state, lambda _response, text, complete: self.history.append((text, complete))
        )
        self.turns.observe(RESPONSE.turn)
        self.turns.set_grace(RESPONSE.turn, 1.0, provisional_from_s=0.0)
        if provisional:
            assert self.turns.begin_provisionally(RESPONSE.turn)
        else:
            self.clock.wait_until(1.0)
            assert self.turns.commit(RESPONSE.turn)


def test_what_is_certain_is_told_at_once() -> None:
    rig = Rig(provisional=False)
    rig.responses.tell(RESPONSE, TEXT)
    assert rig.events == [ResponseStarted(RESPONSE), TEXT]
    assert rig.responses.end(RESPONSE, "completed", TEXT.text)
    assert rig.history == [(TEXT.text, True)]
    assert rig.events[2:] == [ResponseDone(RESPONSE, "completed", TEXT.text)]


def test_of_a_provisional_start_nothing_is_told_until_it_is_certain_and_then_all() -> None:
    rig = Rig()
    rig.responses.tell(RESPONSE, TEXT)
    assert rig.events == [ProvisionalStart(RESPONSE)]
    rig.clock.wait_until(1.0)
    assert rig.responses.settle() == []
    assert rig.events[1:] == [ResponseStarted(RESPONSE), TEXT]
    more = AnswerText(RESPONSE, "And warm.")
    rig.responses.tell(RESPONSE, more)
    assert rig.events[3:] == [more]


def test_what_comes_after_the_commit_is_told_behind_what_was_held() -> None:
    rig = Rig()
    rig.responses.tell(RESPONSE, TEXT)
    rig.clock.wait_until(1.0)
    more = AnswerText(RESPONSE, "And warm.")
    rig.responses.tell(RESPONSE, more)
    assert rig.events[1:] == [ResponseStarted(RESPONSE), TEXT, more]


def test_a_start_that_is_taken_back_leaves_nothing() -> None:
    rig = Rig()
    rig.responses.tell(RESPONSE, TEXT)
    rig.turns.begin_reopen("t")
    rig.turns.confirm_reopen("t")
    assert rig.responses.superseded() == [RESPONSE]
    assert rig.responses.end(RESPONSE, "cancelled", "It is")
    assert rig.events == [ProvisionalStart(RESPONSE), TakenBack(RESPONSE, "It is")]
    assert rig.history == []
    assert [each.turn for each in rig.metrics.starts_taken_back()] == [RESPONSE.turn]
    assert not rig.responses.end(RESPONSE, "cancelled", "It is")


def test_an_answer_played_to_its_end_before_it_is_certain_waits_for_that() -> None:
    rig = Rig()
    report = Played(RESPONSE, "finished", TEXT.text, 0.5)
    rig.responses.open(RESPONSE).finished = report
    assert not rig.responses.is_certain(RESPONSE)
    assert rig.responses.settle() == []
    rig.clock.wait_until(1.0)
    assert rig.responses.settle() == [report]
    assert rig.responses.is_certain(RESPONSE)


def test_one_that_is_stopped_before_it_is_certain_and_not_given_leaves_nothing() -> None:
    rig = Rig()
    rig.responses.tell(RESPONSE, TEXT)
    rig.turns.begin_reopen("t")  # the person speaks, and presses the key
    rig.turns.commit_provisional()
    rig.responses.end(RESPONSE, "cancelled", "It is")
    assert rig.history == []
    assert rig.events[-1] == TakenBack(RESPONSE, "It is")
    assert rig.metrics.starts_taken_back() == []
