"""Simulated time: one thread at a time, deadlines in order, deadlocks found."""

from __future__ import annotations

import pytest

from s2s.core.clock import Deadlock, ManualClock


def test_time_jumps_to_the_nearest_deadline() -> None:
    clock = ManualClock()
    seen: list[tuple[str, float]] = []

    def waiter(name: str, until_s: float) -> None:
        clock.wait_until(until_s)
        seen.append((name, clock.now()))

    deadlines = (("b", 2.0), ("a", 1.0), ("c", 2.0))
    workers = [clock.start(lambda n=n, s=s: waiter(n, s), n) for n, s in deadlines]
    for worker in workers:
        worker.join()
    assert seen == [("a", 1.0), ("b", 2.0), ("c", 2.0)]
    assert clock.now() == 2.0


def test_notified_before_the_deadline() -> None:
    clock = ManualClock()
    condition = clock.condition()
    results: list[bool] = []

    def waiter() -> None:
        with condition:
            results.append(condition.wait(10.0))

    worker = clock.start(waiter, "waiter")
    clock.wait_until(1.0)
    with condition:
        condition.notify_all()
    worker.join()
    assert results == [True]
    assert clock.now() == 1.0


def test_wait_times_out() -> None:
    clock = ManualClock()
    condition = clock.condition()
    with condition:
        assert condition.wait(0.5) is False
    assert clock.now() == 0.5


def test_everyone_waiting_for_ever_is_a_deadlock() -> None:
    clock = ManualClock()
    condition = clock.condition()
    clock.start(lambda: _wait(condition), "stuck")
    with pytest.raises(Deadlock, match="stuck"):
        _wait(condition)


def test_join_with_a_timeout_returns_while_it_still_runs() -> None:
    clock = ManualClock()
    worker = clock.start(lambda: clock.wait_until(5.0), "slow")
    worker.join(1.0)
    assert worker.is_alive()
    assert clock.now() == 1.0
    worker.join()
    assert not worker.is_alive()


def _wait(condition: object) -> None:
    with condition:  # type: ignore[attr-defined]
        condition.wait()  # type: ignore[attr-defined]
