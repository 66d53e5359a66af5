"""A lock that serves who waits in order: whoever takes one step after the other starves nobody."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class FairLock:
    """First come, first served. Not reentrant."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def __enter__(self) -> None:
        with self._lock:
            if not self._held:
                self._held = True
                return
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()  # handed over, still held, by who leaves

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False
