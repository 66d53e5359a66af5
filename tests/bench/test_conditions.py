"""What a benchmark ran on: others' load is told from one's own."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from s2s.bench.conditions import Conditions, Neighbours, peak_memory_mb, resident_memory_mb

BUSY = "import time; end = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_own_work_and_that_of_children_is_not_others() -> None:
    neighbours = Neighbours()
    began_s = time.perf_counter()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    others = neighbours.busy_cores()
    assert others is not None
    cores = Conditions.here().cores
    took_s = time.perf_counter() - began_s
    assert 0 <= others <= cores - 0.25 / took_s + 0.1  # the child's 0.3 s are not in it


def test_memory_is_that_of_this_process() -> None:
    assert 10 < resident_memory_mb() <= peak_memory_mb() * 1.05
