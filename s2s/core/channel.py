"""The bounded queue between two stages. Knows nothing about what it carries.

A full channel blocks its producer: that is the backpressure. Nothing polls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from s2s.core.clock import Clock, SystemClock

T = TypeVar("T")


class Closed(Exception):
    """The channel is closed and, for a reader, empty."""


class Timeout(Exception):
    """Nothing came in time."""


class Channel(Generic[T]):
    """First in, first out, at most `capacity` items. Safe from any thread."""

    def __init__(self, capacity: int, *, clock: Clock | None = None, name: str = "channel") -> None:
        if capacity < 1:
            raise ValueError(f"{name}: capacity must be at least 1, got {capacity}")
        self.name = name
        self.capacity = capacity
        self.peak = 0
        self._clock: Clock = clock or SystemClock()
        self._items: deque[T] = deque()
        self._changed = self._clock.condition()
        self._closed = False

    def __len__(self) -> int:
        return len(self._items)

    @property
    def closed(self) -> bool:
        return self._closed

    def put(self, item: T) -> None:
        """Add `item`, waiting while the channel is full.

        Raises:
            Closed: the channel is, or meanwhile became, closed.
        """
        with self._changed:
            while len(self._items) >= self.capacity and not self._closed:
                self._changed.wait()
            if self._closed:
                raise Closed(self.name)
            self._append(item)

    def offer(self, item: T) -> bool:
        """Add `item` if there is room; False when the channel is full or closed. Never waits."""
        with self._changed:
            if self._closed or len(self._items) >= self.capacity:
                return False
            self._append(item)
            return True

    def get(
        self, *, deadline_s: float | None = None, taken: Callable[[], None] = lambda: None
    ) -> T:
        """Take the oldest item, waiting for one until the clock reads `deadline_s`.

        Args:
            deadline_s: when to give up; None waits for ever.
            taken: called in the same step as the item is taken, so that an observer never sees an
                empty channel and an idle reader while an item is on its way between them.

        Raises:
            Closed: the channel is closed and empty.
            Timeout: the deadline passed.
        """
        with self._changed:
            while not self._items:
                if self._closed:
                    raise Closed(self.name)
                if deadline_s is None:
                    self._changed.wait()
                    continue
                remaining_s = deadline_s - self._clock.now()
                if remaining_s <= 0:
                    raise Timeout(self.name)
                self._changed.wait(remaining_s)
            item = self._items.popleft()
            taken()
            self._changed.notify_all()
            return item

    def wait(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Wait until something can be taken, or `stop` is true after `wake`.

        Raises:
            Closed: the channel is closed and empty.
        """
        with self._changed:
            while not self._items and not stop():
                if self._closed:
                    raise Closed(self.name)
                self._changed.wait()

    def wake(self) -> None:
        """Let who waits here ask again whether to stop."""
        with self._changed:
            self._changed.notify_all()

    def take_while(self, wanted: Callable[[T], bool], most: int | None = None) -> list[T]:
        """Take, in one step, the items at the head for which `wanted` is true, `most` of them."""
        taken: list[T] = []
        with self._changed:
            while self._items and len(taken) != most and wanted(self._items[0]):
                taken.append(self._items.popleft())
            if taken:
                self._changed.notify_all()
        return taken

    def discard(self, unwanted: Callable[[T], bool]) -> list[T]:
        """Remove every waiting item for which `unwanted` is true, keep the order of the rest."""
        with self._changed:
            removed = [item for item in self._items if unwanted(item)]
            if removed:
                self._items = deque(item for item in self._items if not unwanted(item))
                self._changed.notify_all()
        return removed

    def close(self, *, discard: bool = False) -> None:
        """Accept nothing more. Readers get what is left, or nothing with `discard`. Idempotent."""
        with self._changed:
            self._closed = True
            if discard:
                self._items.clear()
            self._changed.notify_all()

    def __iter__(self) -> Iterator[T]:
        """Yield items until the channel is closed and empty."""
        while True:
            try:
                yield self.get()
            except Closed:
                return

    def _append(self, item: T) -> None:
        self._items.append(item)
        self.peak = max(self.peak, len(self._items))
        self._changed.notify_all()
