from __future__ import annotations

from s2s.core.watchdog import Watchdog


def test_it_tells_once_that_nothing_moves() -> None:
    watchdog = Watchdog(30.0)
    told = [at for at in range(100) if watchdog.stalled(float(at), 7, owed=True)]
    assert told == [30]


def test_what_moves_is_left_alone() -> None:
    watchdog = Watchdog(30.0)
    assert not any(watchdog.stalled(float(at), at // 20, owed=True) for at in range(500))


def test_nothing_is_owed_while_nobody_waits() -> None:
    watchdog = Watchdog(30.0)
    told = [at for at in range(200) if watchdog.stalled(float(at), 7, owed=at >= 100)]
    assert told == [129]


def test_it_watches_again_once_something_moved() -> None:
    watchdog = Watchdog(30.0)
    told = [at for at in range(200) if watchdog.stalled(float(at), at >= 100, owed=True)]
    assert told == [30, 130]
