"""Things that a thread makes for a coroutine, as they are made; who stops reading stops it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")

Stop = Callable[[], bool]
"""Asked by the work; True when nobody waits for it any more."""

AHEAD = 4096
"""Things that are made ahead of who reads them: all of any answer, so that a thread is free again
when its work is done, however slowly the answer is read."""


class _End:
    """The end of a stream, and what it failed with."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error


class ThreadStream(Generic[T]):
    """Things on their way from a thread to a coroutine of `loop`."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, make: Callable[[Stop], Iterator[T]]
    ) -> None:
        self._loop = loop
        self._make = make
        self._given_up = threading.Event()
        self._room = threading.Semaphore(AHEAD)
        self._made: asyncio.Queue[T | _End] = asyncio.Queue()

    def run(self) -> None:
        """Make them; in the thread."""
        error: Exception | None = None
        try:
            source = self._make(self._given_up.is_set)
            for item in source:
                self._room.acquire()
                if self._given_up.is_set():
                    break
                self._tell(item)
        except Exception as failed:  # noqa: BLE001  (raised where the stream is read)
            error = failed
        self._tell(_End(error))

    async def items(self) -> AsyncGenerator[T]:
        """Take them; in the coroutine.

        Raises:
            Whatever the work raised.
        """
        while True:
            item = await self._made.get()
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            self._room.release()
            yield item

    def give_up(self) -> None:
        """Nobody reads any more."""
        self._given_up.set()
        self._room.release()

    def _tell(self, item: T | _End) -> None:
        with suppress(RuntimeError):  # the program has ended meanwhile
            self._loop.call_soon_threadsafe(self._made.put_nowait, item)
