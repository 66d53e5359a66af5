"""Whether work is still wanted, and word when that may have changed, so that who waits need not
keep asking.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol


class Changing(Protocol):
    """Something that tells when it has changed."""

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` after each change, from any thread; returns what ends that."""
        ...


class Listeners:
    """Who wants to be told. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heard: dict[int, Callable[[], None]] = {}
        self._next = 0

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Add `heard`; returns what takes it out again, which may be called twice."""
        with self._lock:
            key, self._next = self._next, self._next + 1
            self._heard[key] = heard

        def forget() -> None:
            with self._lock:
                self._heard.pop(key, None)

        return forget

    def tell(self) -> None:
        """Call all of them; they must not wait. No lock may be held that they could want."""
        with self._lock:
            heard = list(self._heard.values())
        for each in heard:
            each()


class StopSignal:
    """A question that can be asked, as the `stop` of every backend is, and also listened to.

    Args:
        asked: true once the work is not wanted any more.
        sources: what the answer depends on.
    """

    def __init__(self, asked: Callable[[], bool], *sources: Changing) -> None:
        self._asked = asked
        self._sources = sources

    def __call__(self) -> bool:
        return self._asked()

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` whenever the answer may have changed; returns what ends that."""
        forget = [source.listen(heard) for source in self._sources]

        def forget_all() -> None:
            for each in forget:
                each()

        return forget_all
