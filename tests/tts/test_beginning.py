"""Answers begin when they may, and say how."""

from __future__ import annotations

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.messages import ResponseId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.tts.beginning import begin_after_grace, begin_answer

RESPONSE = ResponseId("t", 0, 0, "r")


def state(*, provisional_from_s: float | None) -> SessionState:
    clock = ManualClock()
    made = SessionState(
        CancelScope(clock), SpeculativeTurns(clock), clock, Metrics(), lambda _event: None
    )
    made.turns.observe(RESPONSE.turn)
    made.turns.set_grace(RESPONSE.turn, 1.0, provisional_from_s=provisional_from_s)
    return made


def test_without_a_provisional_start_it_waits_for_the_commit() -> None:
    session = state(provisional_from_s=None)
    assert not begin_answer(session, RESPONSE)
    assert begin_after_grace(session, RESPONSE)
    assert session.clock.now() == 1.0
    assert session.turns.is_committed("t")


def test_where_it_may_be_provisional_it_is_and_the_commit_is_still_to_come() -> None:
    session = state(provisional_from_s=0.25)
    assert begin_after_grace(session, RESPONSE)
    assert session.clock.now() == 0.25
    assert session.turns.is_provisional(RESPONSE.turn)
    timeline = session.metrics.finish(RESPONSE.turn)
    assert timeline is not None
    assert list(timeline.marks) == ["provisional"]


def test_a_voice_that_may_be_coming_back_is_waited_for() -> None:
    session = state(provisional_from_s=0.25)
    session.turns.begin_reopen("t")

    def decide() -> None:
        session.clock.wait_until(0.5)
        session.turns.cancel_reopen("t")

    session.clock.start(decide, "person")
    assert begin_after_grace(session, RESPONSE)
    assert session.clock.now() == 0.5


def test_what_is_stale_does_not_begin() -> None:
    session = state(provisional_from_s=0.25)
    session.scope.cancel()
    assert not begin_after_grace(session, RESPONSE)
    assert session.clock.now() == 0.0
