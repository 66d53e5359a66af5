"""Several things made at once: all of them, or none is left open."""

from __future__ import annotations

import threading

import pytest

from s2s.app import together
from s2s.app.together import Together
from tests.support.patience import PATIENCE_S


class Door:
    """Says when it is closed."""

    def __init__(self, *, broken: bool = False) -> None:
        self.closed = threading.Event()
        self._broken = broken

    def close(self) -> None:
        self.closed.set()
        if self._broken:
            raise RuntimeError("the hinge")


def fail() -> Door:
    raise ValueError("no wood")


def test_what_was_made_is_there_and_stays_open() -> None:
    first, second = Door(), Door()
    with Together() as made:
        one, two = made.start("one", lambda: first), made.start("two", lambda: second)
        made.wait()
        assert (one.made, two.made) == (first, second)
    assert not first.closed.is_set()


def test_when_one_fails_the_others_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "JOIN_S", PATIENCE_S)
    first = Door(broken=True)
    with pytest.raises(ValueError, match="no wood"), Together() as made:  # noqa: PT012
        made.start("one", lambda: first)
        made.start("two", fail)
        made.wait()
    assert first.closed.is_set()


def test_what_is_still_being_made_is_closed_once_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(together, "JOIN_S", 0.0)
    late, go_on = Door(), threading.Event()

    def make() -> Door:
        go_on.wait()
        return late

    with pytest.raises(ValueError, match="no wood"), Together() as made:  # noqa: PT012
        made.start("late", make)
        made.start("two", fail)
        made.wait()
    assert not late.closed.is_set()
    go_on.set()
    assert late.closed.wait(PATIENCE_S)


def test_a_thread_is_called_by_what_it_makes() -> None:
    names: list[str] = []

    def make() -> Door:
        names.append(threading.current_thread().name)
        return Door()

    with Together() as made:
        made.start("stt", make)
        made.wait()
    assert names == ["s2s-load-stt"]
