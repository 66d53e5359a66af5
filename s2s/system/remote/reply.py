"""One answer of a server, put in by an event loop and read by a thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Self

from s2s.core.channel import Channel, Closed, Timeout
from s2s.core.clock import SystemClock
from s2s.core.stop import StopSignal
from s2s.system.remote.errors import RemoteError, stalled

ARRIVED = 64
"""Pieces of an answer that wait to be read, at most; then the server is made to wait."""
STOP_ASKED_EVERY_S = 0.05
"""For a `stop` that is a plain function; a `StopSignal` tells by itself."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long to wait for an answer, in seconds."""

    first_s: float
    """Between the request and the first byte of the answer."""
    gap_s: float
    """Between two pieces of the answer."""
    total_s: float
    """For the whole answer."""
    busy_s: float
    """While the server says that it is loading or busy."""


@dataclass(frozen=True, slots=True)
class Head:
    content_type: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The server is busy; another try follows."""

    pause_s: float


class Wake:
    """`stop` may answer otherwise now."""


Item = Head | Waiting | Wake | bytes


class Reply:
    """One answer, read by one thread while it arrives."""

    def __init__(self, url: str, waits: Waits, stop: Callable[[], bool]) -> None:
        self._url = url
        self._waits = waits
        self._stop = stop
        self._clock = SystemClock()
        self._arrived: Channel[Item] = Channel(ARRIVED, clock=self._clock, name="remote")
        self._room = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._content_type: str | None = None
        self._failure: RemoteError | None = None
        self._asked_s = self._clock.now()
        self.tried_s = self._asked_s
        """When the request was sent the last time, by the system's clock."""
        self._due_s = self._asked_s + waits.first_s
        self._forget: Callable[[], None] = lambda: None

    # --- the loop's side ------------------------------------------------------------------------

    def start(
        self, loop: asyncio.AbstractEventLoop, exchange: Coroutine[object, object, None]
    ) -> None:
        """Run `exchange` in the loop."""
        self._loop = loop
        if isinstance(self._stop, StopSignal):
            self._forget = self._stop.listen(self._wake)
        try:
            loop.call_soon_threadsafe(self._begin, exchange)
        except RuntimeError:  # the loop has ended
            exchange.close()
            self.end(RemoteError(f"{self._url} was asked after it was closed."))

    def _begin(self, exchange: Coroutine[object, object, None]) -> None:
        if self._arrived.closed:
            exchange.close()
        else:
            self._task = asyncio.ensure_future(exchange)

    async def give(self, item: Item) -> None:
        """Hand `item` to the reader, once there is room."""
        while True:
            self._room.clear()
            if self._arrived.offer(item):
                return
            await self._room.wait()

    def end(self, failure: RemoteError | None) -> None:
        """Nothing more comes."""
        self._failure = failure
        self._arrived.close()

    # --- the reader's side ------------------------------------------------------------------------

    @property
    def content_type(self) -> str:
        """In lower case, "" when the server names none; waits for the answer to begin.

        Raises:
            RemoteError: refused, timed out, or lost.
        """
        if self._content_type is None:
            item = self._next()
            self._content_type = item.content_type if isinstance(item, Head) else ""
        return self._content_type

    def __iter__(self) -> Iterator[bytes]:
        """The bytes as they arrive, none empty; they end early when `stop` says so.

        Raises:
            RemoteError: refused, timed out, or lost.
        """
        _ = self.content_type
        while (item := self._next()) is not None:
            if isinstance(item, bytes) and item:
                yield item

    def read(self, limit: int = 64 * 2**20) -> bytes:
        """The answer, up to about `limit` bytes."""
        body = bytearray()
        for data in self:
            body += data
            if len(body) > limit:
                break
        return bytes(body)

    def close(self) -> None:
        """Give up what is left of the answer: the connection is closed. Idempotent."""
        self._forget()
        self._arrived.close(discard=True)
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._cancel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _wake(self) -> None:
        self._arrived.offer(Wake())

    def _next(self) -> Head | bytes | None:
        """What arrives next; None at the end, or when `stop` says so."""
        waits, clock = self._waits, self._clock
        signals = isinstance(self._stop, StopSignal)
        while not self._stop():
            total_s = self._asked_s + waits.total_s
            due_s = min(self._due_s, total_s)
            asks_s = due_s if signals else min(due_s, clock.now() + STOP_ASKED_EVERY_S)
            try:
                item = self._arrived.get(deadline_s=asks_s)
            except Timeout:
                if clock.now() >= due_s:
                    waited_s = waits.gap_s if self._content_type is not None else waits.first_s
                    raise stalled(
                        self._url, waits.total_s if due_s == total_s else waited_s
                    ) from None
                continue
            except Closed:
                if self._failure is not None:
                    raise self._failure from None
                return None
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._room.set)
            match item:
                case Head() | bytes():
                    self._due_s = clock.now() + waits.gap_s
                    return item
                case Waiting():
                    self.tried_s = clock.now() + item.pause_s
                    self._due_s = self.tried_s + waits.first_s
                case Wake():
                    pass
        return None
