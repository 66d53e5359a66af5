"""Working ahead: everything in order, never beyond the limit, and no thread left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from s2s.tts.qwen3.engine.prefetch import ahead
from tests.support.patience import PATIENCE_S

NAME = "test-ahead"


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == NAME]


class Counter:
    """Counts up; says how far it has come."""

    def __init__(self, end: int, fail_at: int | None = None) -> None:
        self.end = end
        self.fail_at = fail_at
        self.made = 0
        self.waiting = threading.Semaphore(0)

    def __iter__(self) -> Iterator[int]:
        for number in range(self.end):
            if number == self.fail_at:
                raise ValueError(f"no {number}")
            self.made = number + 1
            self.waiting.release()
            yield number


@pytest.mark.parametrize("limit", [1, 2, 7, 1000])
def test_everything_comes_in_order(limit: int) -> None:
    assert list(ahead(iter(Counter(100)), limit, NAME)) == list(range(100))
    assert threads() == []


@pytest.mark.parametrize("limit", [1, 4])
def test_it_never_works_further_ahead_than_the_limit(limit: int) -> None:
    counter = Counter(50)
    items = ahead(iter(counter), limit, NAME)
    for at in range(20):
        assert next(items) == at
        assert counter.made <= at + 1 + limit + 1
    items.close()
    assert counter.made < 50
    assert threads() == []


def test_it_works_while_it_is_not_read() -> None:
    counter = Counter(50)
    items = ahead(iter(counter), 5, NAME)
    next(items)
    for _ in range(5):
        assert counter.waiting.acquire(timeout=PATIENCE_S)
    items.close()


def test_an_error_comes_after_what_was_made_before_it() -> None:
    items = ahead(iter(Counter(50, fail_at=3)), 2, NAME)
    assert [next(items) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="no 3"):
        next(items)
    assert threads() == []


def test_an_item_takes_back_what_is_unread() -> None:
    """Here ten takes back the unread numbers from six on."""
    counter = Counter(11)
    items = ahead(iter(counter), 20, NAME, lambda new, unread: new == 10 and unread >= 6)
    assert next(items) == 0
    for _ in range(11):
        assert counter.waiting.acquire(timeout=PATIENCE_S)
    for thread in threading.enumerate():
        if thread.name == NAME:
            thread.join(PATIENCE_S)
    assert list(items) == [1, 2, 3, 4, 5, 10]
    assert threads() == []
