"""What threads send to the main thread, which a signal reaches while it waits.

A signal that comes in the moment before the main thread sleeps on a lock is only noted: Python runs
its handler when the lock is free, which may be never. Sleeping on a socket that the interpreter
itself writes to when a signal comes (`signal.set_wakeup_fd`) has no such moment.
"""

from __future__ import annotations

import select
import signal
import socket
import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

T = TypeVar("T")

_BYTES = 4096


class Mailbox(Generic[T]):
    """A queue without bound from any thread to one that waits, usually the main one."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._lock = threading.RLock()  # a signal's handler may send, too
        self._closed = False
        self._reader, self._writer = socket.socketpair()
        for each in (self._reader, self._writer):
            each.setblocking(False)

    def put(self, item: T) -> None:
        """Send `item`; never waits. From any thread, also when nobody waits any more."""
        self._items.append(item)
        with self._lock, suppress(BlockingIOError):  # full: there is enough to wake up for
            if not self._closed:
                self._writer.send(b"\0")

    def get(self) -> T:
        """The next item, waited for. Signal handlers run meanwhile, and what they raise is raised
        here."""
        with self._woken_by_signals():
            while not self._items:
                select.select([self._reader], [], [])
                with suppress(BlockingIOError):
                    self._reader.recv(_BYTES)
        return self._items.popleft()

    def close(self) -> None:
        """Nobody waits any more. Idempotent."""
        with self._lock:
            self._closed = True
            self._reader.close()
            self._writer.close()

    @contextmanager
    def _woken_by_signals(self) -> Generator[None, None, None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
