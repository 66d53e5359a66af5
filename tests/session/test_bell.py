"""Alarms ring once, when nobody speaks."""

from __future__ import annotations

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import ResponseStarted
from s2s.core.messages import Announcement
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns, Verdict
from s2s.core.state import SessionState
from s2s.core.tooling import Alarms
from s2s.session.bell import Bell


class Rig:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.alarms = Alarms(self.clock.now)
        self.said: list[Announcement] = []
        self.full = False
        self.turns = SpeculativeTurns(self.clock)
        scope = CancelScope(self.clock)
        state = SessionState(scope, self.turns, self.clock, Metrics(), lambda event: None)
        self.bell = Bell(self.alarms, state, "s-bell", lambda turn: turn.turn_id, self.announce)

    def announce(self, message: Announcement) -> bool:
        self.said.append(message)
        return not self.full

    def look(self, at_s: float, *, quiet: bool = True) -> bool:
        self.clock.wait_until(at_s)
        return self.bell.look(at_s, quiet=quiet)


def test_it_rings_when_it_is_due_and_nobody_speaks() -> None:
    rig = Rig()
    rig.alarms.set(5.0, "tea")
    assert not rig.look(4.9)
    assert not rig.look(5.0, quiet=False)
    assert rig.look(6.0)
    (said,) = rig.said
    assert said.name == "tea"
    assert rig.turns.verdict(said.response.turn) is Verdict.LATEST


def test_it_has_rung_once_it_is_heard() -> None:
    rig = Rig()
    rig.alarms.set(5.0)
    rig.look(5.0)
    rig.bell.on_event(ResponseStarted(rig.said[0].response))
    assert rig.alarms.all() == []
    assert not rig.look(7.0)


def test_where_nothing_was_heard_it_rings_again() -> None:
    rig = Rig()
    rig.alarms.set(5.0)
    assert rig.look(5.0)
    assert rig.look(6.0)
    one, other = rig.said
    assert one.response != other.response
    rig.full = True
    assert not rig.look(8.0)


def test_who_waits_looks_again_when_the_next_is_due() -> None:
    rig = Rig()
    assert rig.bell.sooner(None) is None
    rig.alarms.set(5.0)
    assert rig.bell.sooner(None) == 5.0
    assert rig.bell.sooner(3.0) == 3.0
