"""Work that is noted while it computes, and not while it waits for what others make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from s2s.core.work import Shift, Unlimited, Work, each


class Noted(Unlimited):
    """Writes down what computes."""

    def __init__(self) -> None:
        self.running: list[tuple[Work, int]] = []
        self.waits: list[bool] = []

    def computing(self) -> int:
        return 0

    @contextmanager
    def working(self, work: Work, threads: int = 1) -> Iterator[None]:
        self.running.append((work, threads))
        try:
            yield
        finally:
            self.running.remove((work, threads))

    def wait(self, work: Work, stop: Callable[[], bool] = lambda: False) -> None:
        self.waits.append(stop())


def test_a_shift_is_noted_while_it_computes() -> None:
    noted = Noted()
    shift = Shift(noted, lambda: Work.SOUND_AHEAD, threads=2)
    assert noted.running == []
    shift.begin()
    assert noted.running == [(Work.SOUND_AHEAD, 2)]
    with shift.paused(), shift.paused():
        assert noted.running == []
    assert noted.running == [(Work.SOUND_AHEAD, 2)]
    shift.end()
    assert noted.running == []


def test_a_pause_outlasts_the_shift_it_began_in() -> None:
    noted = Noted()
    shift = Shift(noted, lambda: Work.SOUND_AHEAD)
    shift.begin()
    with shift.paused():
        shift.end()
        shift.begin()
        assert noted.running == []
        shift.end()
    assert noted.running == []


def test_waiting_stops_when_the_work_has_become_more_urgent() -> None:
    noted, urgency = Noted(), iter([Work.SOUND_LATER, Work.SOUND_AHEAD, Work.SOUND_AHEAD])
    Shift(noted, lambda: next(urgency)).begin()
    assert noted.waits == [True]


def test_a_shift_ends_with_an_error_of_what_is_made() -> None:
    noted = Noted()

    def broken() -> Iterator[int]:
        yield 1
        raise ValueError

    shift, made = Shift(noted, lambda: Work.SOUND_AHEAD), []
    try:
        for item in each(broken(), shift):
            assert noted.running == []
            made.append(item)
    except ValueError:
        made.append(0)
    assert made == [1, 0]
    assert noted.running == []
