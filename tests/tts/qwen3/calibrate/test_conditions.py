"""Whether a measurement can be trusted is seen from the system's own counters."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from s2s.tts.qwen3.calibrate.conditions import LoadWatch, MeasuringConditions


class Machine:
    """Its clock, what all programs and this one have used of the processor, in seconds, and whether
    something else of this program computes."""

    def __init__(self) -> None:
        self.now_s = self.busy_s = self.own_s = 0.0
        self.alone = True
        self.watch = LoadWatch(
            lambda: self.alone,
            read=lambda: (self.busy_s, self.own_s),
            now=lambda: self.now_s,
            today=lambda: datetime(2026, 11, 30, 12, 5, tzinfo=UTC),
        )

    def run(self, seconds: float, own: float, others: float) -> None:
        """Some time in which so many cores were used."""
        self.now_s += seconds
        self.own_s += seconds * own
        self.busy_s += seconds * (own + others)


def test_a_quiet_machine_is_a_good_one() -> None:
    machine = Machine()
    machine.run(2.0, own=1.9, others=0.05)
    found = machine.watch.conditions()
    assert found == MeasuringConditions("2026-11-30 12:05 UTC", 0.04, True)
    assert found.good
    assert str(found) == "measured 2026-11-30 12:05 UTC, nothing else computed"


@pytest.mark.parametrize("others", [0.2, 1.0])
def test_what_other_programs_use_is_seen(others: float) -> None:
    machine = Machine()
    machine.run(2.0, own=1.0, others=others)
    found = machine.watch.conditions()
    assert found.others_cores == pytest.approx(others - 0.01)
    assert not found.good
    assert f"other programs used {found.others_cores:.1f} cores" in str(found)


def test_only_the_time_since_it_began_counts() -> None:
    machine = Machine()
    machine.run(2.0, own=1.0, others=1.0)
    machine.watch.begin()
    machine.run(1.0, own=1.0, others=0.0)
    assert machine.watch.conditions().good


def test_another_part_of_this_program_is_seen_even_when_it_has_ended_since() -> None:
    machine = Machine()
    machine.alone = False
    machine.watch.look()
    machine.alone = True
    machine.run(1.0, own=1.0, others=0.0)
    found = machine.watch.conditions()
    assert not found.good
    assert "another part of this program computed" in str(found)


def test_the_step_of_the_counters_is_nobodys() -> None:
    machine = Machine()
    machine.run(0.1, own=0.0, others=0.15)  # one and a half steps of 10 ms
    assert machine.watch.conditions().good


def test_the_systems_counters_are_read() -> None:
    found = LoadWatch(lambda: True).conditions()
    assert found.measured
    assert found.others_cores >= 0
