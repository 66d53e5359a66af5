"""Signals that work is not wanted any more."""

from __future__ import annotations

import pytest

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import Event
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.core.stop import Listeners

TURN = TurnId("t", 0)
RESPONSE = ResponseId("t", 0, 0, "r")


def state() -> SessionState:
    clock, events = ManualClock(), list[Event]()
    made = SessionState(
        CancelScope(clock), SpeculativeTurns(clock), clock, Metrics(), events.append
    )
    made.turns.observe(TURN)
    return made


@pytest.mark.parametrize(
    "how", ["interrupted", "re-opened", "newer revision", "reset", "withdrawn"]
)
def test_whoever_listens_is_told_when_a_response_becomes_stale(how: str) -> None:
    it = state()
    stop = it.stop_when(lambda: it.is_stale(RESPONSE))
    told: list[bool] = []
    forget = stop.listen(lambda: told.append(stop()))
    assert not stop()
    match how:
        case "interrupted":
            it.scope.cancel()
        case "re-opened":
            it.turns.confirm_reopen("t")
        case "newer revision":
            it.turns.observe(TurnId("t", 1))
        case "reset":
            it.turns.reset()
        case "withdrawn":
            it.withdraw(RESPONSE)
    assert told[-1:] == [True]
    heard = len(told)
    forget()
    forget()
    it.scope.cancel()
    assert len(told) == heard


def test_a_listener_may_leave_while_it_is_told() -> None:
    listeners, told = Listeners(), list[str]()

    def once() -> None:
        told.append("once")
        forget()

    forget = listeners.listen(once)
    listeners.listen(lambda: told.append("always"))
    listeners.tell()
    listeners.tell()
    assert told == ["once", "always", "always"]
