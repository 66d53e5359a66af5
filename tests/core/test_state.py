"""What is stale: interrupted, withdrawn, or of a turn that was re-opened."""

from __future__ import annotations

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState


def state() -> SessionState:
    clock = ManualClock()
    turns = SpeculativeTurns(clock)
    turns.observe(TurnId("t", 0))
    return SessionState(CancelScope(clock), turns, clock, Metrics(), lambda event: None)


ANSWER = ResponseId("t", 0, 0, "a")


def test_an_answer_is_stale_after_an_interruption() -> None:
    shared = state()
    assert not shared.is_stale(ANSWER)
    shared.scope.cancel()
    assert shared.is_stale(ANSWER)


def test_an_answer_is_stale_when_its_turn_went_on() -> None:
    shared = state()
    shared.turns.observe(TurnId("t", 1))
    assert shared.is_stale(ANSWER)
    assert not shared.is_stale(ResponseId("t", 1, 0, "a"))


def test_a_withdrawn_answer_is_stale_and_the_next_one_is_not() -> None:
    shared = state()
    shared.withdraw(ANSWER)
    assert shared.is_stale(ANSWER)
    assert not shared.is_stale(ResponseId("t", 0, 0, "b"))


def test_a_signal_tells_of_interruptions_and_of_withdrawn_answers() -> None:
    shared = state()
    signal = shared.stop_when(lambda: shared.is_stale(ANSWER))
    told: list[bool] = []
    forget = signal.listen(lambda: told.append(signal()))
    shared.withdraw(ANSWER)
    assert told[-1:] == [True]
    shared.scope.cancel()
    assert len(told) > 1
    forget()
    count = len(told)
    shared.scope.cancel()
    assert len(told) == count


def test_a_point_is_marked_at_the_time_of_the_clock() -> None:
    shared = state()
    shared.metrics.mark(ANSWER.turn, "speech_stopped", 0.0)
    shared.clock.wait_until(0.25)
    shared.mark(ANSWER, "first_played")
    timeline = shared.metrics.finish(ANSWER.turn)
    assert timeline is not None
    assert timeline.latency_ms == 250.0
