"""Alarms, in the order in which they ring."""

from __future__ import annotations

from s2s.core.tooling import Alarms


def test_the_next_alarm_is_the_one_that_is_due_first() -> None:
    alarms = Alarms(lambda: 10.0)
    assert alarms.next is None
    late, soon = alarms.set(60.0, "late"), alarms.set(5.0)
    assert alarms.next == soon
    assert [each.due_s for each in alarms.all()] == [15.0, 70.0]
    assert alarms.cancel(soon)
    assert not alarms.cancel(soon)
    assert alarms.next == late
