"""The ring gives back what was written, in order, and counts what it had no room for."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.clock import ManualClock, SystemClock
from s2s.transport.ring import Ring


@given(
    capacity=st.integers(1, 20),
    steps=st.lists(st.one_of(st.integers(0, 30), st.just("read")), max_size=40),
)
def test_what_fits_comes_out_in_order(capacity: int, steps: list[int | str]) -> None:
    ring = Ring(SystemClock(), capacity)
    written, expected, got, dropped = 0, list[float](), list[float](), 0
    waiting = 0
    for step in steps:
        if isinstance(step, int):
            block = np.arange(written, written + step, dtype=np.float32)
            written += step
            fits = min(step, capacity - waiting)
            ring.write(block)
            expected += block[:fits].tolist()
            dropped += step - fits
            waiting += fits
        else:
            got += ring.read(0, deadline_s=0.0).tolist()
            waiting = 0
    got += ring.read(0, deadline_s=0.0).tolist()
    assert got == expected
    assert ring.dropped_samples == dropped


def test_the_reader_waits_for_enough_and_no_longer_than_its_deadline() -> None:
    clock = ManualClock()
    ring = Ring(clock, 100)

    def write() -> None:
        clock.wait_until(1.0)
        ring.write(np.ones(10, np.float32))
        clock.wait_until(2.0)
        ring.write(np.ones(10, np.float32))

    worker = clock.start(write, "writer")
    assert ring.wait_for_samples(5.0)
    assert clock.now() == 1.0
    assert len(ring.read(20, deadline_s=5.0)) == 20
    assert clock.now() == 2.0
    assert not len(ring.read(1, deadline_s=3.5))
    assert clock.now() == 3.5
    assert not ring.wait_for_samples(4.0)
    worker.join()


def test_closing_it_wakes_the_reader() -> None:
    ring = Ring(SystemClock(), 10)
    closer = threading.Thread(target=ring.close)
    closer.start()
    assert not len(ring.read(5, deadline_s=1e9))
    assert ring.wait_for_samples(1e9)
    closer.join()


def test_a_ring_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        Ring(SystemClock(), 0)


def test_a_slow_reader_loses_samples_but_never_blocks_the_callback() -> None:
    ring = Ring(ManualClock(), 100)
    ring.write(np.ones(80, dtype=np.float32))
    ring.write(np.ones(80, dtype=np.float32))
    assert ring.dropped_samples == 60
    assert len(ring.read(1, deadline_s=0.0)) == 100
