"""Work that blocks, done in threads for coroutines: one call, or a stream of things as they are
made. Who stops reading stops the work.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from typing import TypeVar

from starlette.requests import Request

from s2s.transport.server.places import Places
from s2s.transport.server.reply import ApiError
from s2s.transport.threaded import Stop, ThreadStream

T = TypeVar("T")


class Workers:
    """Threads for the requests of one server: some are worked on at a time, some more wait."""

    def __init__(self, most: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix="s2s-http")
        self._turns = asyncio.Semaphore(most)
        self._here = Places(most + waiting)

    @property
    def here(self) -> int:
        """Requests that are worked on or wait."""
        return self._here.taken

    @contextmanager
    def place(self) -> Generator[None]:
        """Inside a request has a place: from before its body is read, which takes memory, until its
        answer begins.

        Raises:
            ApiError: too many wait already.
        """
        if not self._here.take():
            raise ApiError(
                503,
                "server_busy",
                f"{self._here.most} requests are worked on or wait. Come again.",
                retry_after_s=2,
            )
        try:
            yield
        finally:
            self._here.leave()

    async def call(self, work: Callable[[Stop], T]) -> T:
        """What `work` returns, once it is this request's turn."""
        async with self._turns:
            given_up = threading.Event()
            future = asyncio.get_running_loop().run_in_executor(self._pool, work, given_up.is_set)
            try:
                return await future
            finally:
                given_up.set()

    async def stream(self, make: Callable[[Stop], Iterator[T]]) -> AsyncGenerator[T]:
        """What `make` makes, as it is made, once it is this request's turn. To be closed.

        Raises:
            Whatever `make` raises.
        """
        await self._turns.acquire()
        loop = asyncio.get_running_loop()
        made = ThreadStream(loop, make)
        future = loop.run_in_executor(self._pool, made.run)
        future.add_done_callback(lambda _: self._turns.release())
        try:
            async with aclosing(made.items()) as items:
                async for item in items:
                    yield item
        finally:
            made.give_up()

    def close(self) -> None:
        """Take no more work; what runs ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """What `work` gives; it is cancelled when the client hangs up before.

    Args:
        request: its body has been read.
        work: what its client waits for.

    Raises:
        ApiError: the client has hung up; nobody reads this.
    """
    working = asyncio.ensure_future(work)
    going = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait([working, going], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ApiError(499, "client_gone", "The client has hung up.")
        return working.result()
    finally:
        for task in (working, going):
            task.cancel()
        await asyncio.gather(working, going, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
