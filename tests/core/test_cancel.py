"""Interruptions are counted, and what is older is stale."""

from __future__ import annotations

from s2s.core.cancel import CancelScope
from s2s.core.clock import SystemClock


def test_work_of_before_an_interruption_is_stale() -> None:
    scope = CancelScope(SystemClock())
    before = scope.generation
    assert not scope.is_stale(before)
    after = scope.cancel()
    assert after == scope.generation
    assert scope.is_stale(before)
    assert not scope.is_stale(after)


def test_who_listens_is_told_of_each_interruption_until_it_stops_listening() -> None:
    scope = CancelScope(SystemClock())
    told: list[int] = []
    end = scope.listen(lambda: told.append(scope.generation))
    scope.cancel()
    scope.cancel()
    end()
    scope.cancel()
    assert told == [1, 2]
