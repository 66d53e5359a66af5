"""A call at work, on the simulated clock."""

from __future__ import annotations

from s2s.core.clock import ManualClock
from s2s.core.stop import Listeners, StopSignal
from s2s.core.tooling import ToolOutcome
from s2s.tools.running import MOST_LEFT, LeftCalls, ReadyOutcome, WorkingTool

GIVEN = ToolOutcome("given")


class Rig:
    def __init__(self, takes_s: float) -> None:
        self.clock = ManualClock()
        self.listeners = Listeners()
        self.unwanted = False
        self.left = LeftCalls()
        self.saw_stop = False
        self.takes_s = takes_s

    def stop(self) -> None:
        self.unwanted = True
        self.listeners.tell()

    def start(self, timeout_s: float = 10.0) -> WorkingTool:
        def work(stopped: StopSignal) -> ToolOutcome:
            self.clock.wait_until(self.clock.now() + self.takes_s)
            self.saw_stop = stopped()
            return GIVEN

        stop = StopSignal(lambda: self.unwanted, self.listeners)
        return WorkingTool(work, self.clock, timeout_s, stop, self.left)


def test_what_it_gives_is_waited_for() -> None:
    rig = Rig(2.0)
    running = rig.start()
    assert running.wait(1.0) is None
    assert running.wait() == GIVEN
    assert rig.clock.now() == 2.0
    assert running.wait(0.0) == GIVEN


def test_it_may_not_take_too_long() -> None:
    rig = Rig(100.0)
    running = rig.start(timeout_s=3.0)
    outcome = running.wait()
    assert outcome is not None
    assert (outcome.text, outcome.failed) == ("Error: it gave nothing for 3 s.", True)
    assert rig.clock.now() == 3.0
    rig.clock.wait_until(200.0)
    assert rig.saw_stop
    assert running.wait() == outcome, "what comes too late does not count"


def test_it_ends_at_once_when_nobody_wants_it_any_more() -> None:
    rig = Rig(100.0)
    running = rig.start()

    def interrupt() -> None:
        rig.clock.wait_until(1.5)
        rig.stop()

    rig.clock.start(interrupt, "person")
    outcome = running.wait()
    assert outcome is not None
    assert outcome.cancelled
    assert rig.clock.now() == 1.5
    rig.clock.wait_until(200.0)
    assert rig.saw_stop, "the call itself has ended too"


def test_only_so_many_are_left_to_themselves() -> None:
    rig = Rig(100.0)
    for _ in range(MOST_LEFT):
        assert not rig.left.too_many
        rig.start(timeout_s=1.0).wait()
    assert rig.left.too_many
    rig.clock.wait_until(500.0)
    assert not rig.left.too_many, "they came back"


def test_an_outcome_that_is_there() -> None:
    assert ReadyOutcome(GIVEN).wait() == GIVEN
