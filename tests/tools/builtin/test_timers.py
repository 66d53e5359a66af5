"""Timers: set, listed, cancelled."""

from __future__ import annotations

import json

import pytest

from s2s.core.tooling import Alarms
from s2s.tools import ToolContext, ToolError
from s2s.tools.builtin.timers import MOST, cancel_timer, list_timers, set_timer
from s2s.tools.tool import tool_of


class Rig:
    def __init__(self) -> None:
        self.now_s = 100.0
        self.alarms = Alarms(lambda: self.now_s)
        self.context = ToolContext(alarms=self.alarms)


def test_a_timer_is_set_listed_and_cancelled() -> None:
    rig = Rig()
    assert set_timer("five minutes", rig.context) == "The timer is set for 5 minutes."
    assert [alarm.due_s for alarm in rig.alarms.all()] == [400.0]
    rig.now_s = 160.0
    assert list_timers(rig.context) == "The timer of 5 minutes has 4 minutes left."
    assert cancel_timer(rig.context) == "The timer of 5 minutes is cancelled."
    assert list_timers(rig.context) == "No timer is running."
    assert cancel_timer(rig.context) == "No timer is running."


def test_of_several_the_one_that_is_meant_is_cancelled() -> None:
    rig = Rig()
    set_timer("ten minutes", rig.context, "pasta")
    set_timer("2 minutes", rig.context)
    with pytest.raises(ToolError, match=r"timer of 2 minutes.*pasta timer"):
        cancel_timer(rig.context)
    assert cancel_timer(rig.context, "Pasta") == "The pasta timer is cancelled."
    set_timer("ten minutes", rig.context)
    assert cancel_timer(rig.context, "two minutes") == "The timer of 2 minutes is cancelled."
    set_timer("an hour", rig.context)
    assert cancel_timer(rig.context, "all") == "All 2 timers are cancelled."


@pytest.mark.parametrize("duration", ["a timer", "5", "0 seconds", "25 hours", ""])
def test_what_is_no_duration_is_refused(duration: str) -> None:
    rig, found = Rig(), tool_of(set_timer)
    assert found is not None
    assert found.call(json.dumps({"duration": duration}), rig.context).failed
    assert not rig.alarms.all()


def test_there_are_not_endlessly_many() -> None:
    rig = Rig()
    for _ in range(MOST):
        set_timer("1 hour", rig.context)
    with pytest.raises(ToolError, match="Cancel one"):
        set_timer("1 hour", rig.context)
