"""What a benchmark ran on: others' load is told from one's own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from s2s.bench.conditions import (
    Conditions,
    Neighbours,
    ProcessorTimes,
    peak_memory_mb,
    processor_times,
    resident_memory_mb,
)

BUSY = "import time; end = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


@pytest.mark.parametrize(
    ("own_s", "all_s", "others"),
    [(0.0, 0.0, 0.0), (3.0, 3.0, 0.0), (1.0, 3.0, 1.0), (0.0, 4.0, 2.0), (3.02, 3.0, 0.0)],
)
def test_own_work_is_not_others(own_s: float, all_s: float, others: float) -> None:
    """The last: the system counts in steps of 10 ms."""
    times = iter([ProcessorTimes(7.0, 5.0, 90.0), ProcessorTimes(9.0, 5.0 + own_s, 90.0 + all_s)])
    assert Neighbours(lambda: next(times)).busy_cores() == others


def test_a_system_that_does_not_tell_knows_no_others() -> None:
    assert Neighbours(lambda: ProcessorTimes(0.0, 0.0, None)).busy_cores() is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_work_of_children_is_own_work_and_everybodys() -> None:
    before = processor_times()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    after = processor_times()
    assert before.all_s is not None
    assert after.all_s is not None
    steps_s = 0.05 + 0.02 * Conditions.here().cores
    assert after.own_s - before.own_s >= 0.3 - steps_s
    assert after.all_s - before.all_s >= 0.3 - steps_s
    assert after.wall_s > before.wall_s


def test_memory_is_that_of_this_process() -> None:
    assert 10 < resident_memory_mb() <= peak_memory_mb() * 1.05
