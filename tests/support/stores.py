"""Places in which conversations are kept, for tests: each kind, also over two event loops."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import fakeredis
import redis

from s2s.transport.server.kept.memory_store import MemoryStore
from s2s.transport.server.kept.ray_store import Actor, RayStore, RemoteMethod
from s2s.transport.server.kept.redis_store import RedisClient, RedisStore
from s2s.transport.server.kept.store import Claim, Holder, StoreUnreachable, Written

STARTS_S = 20.0
"""A server of Redis is there within so long."""


class Time:
    """A clock that is set."""

    now_s = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class Method:
    """A method of a place, as an actor's is asked."""

    work: Callable[..., Awaitable[object]]
    loop: asyncio.AbstractEventLoop | None

    def remote(self, *given: object) -> Awaitable[object]:
        if self.loop is None:
            return self.work(*given)
        asked = asyncio.run_coroutine_threadsafe(self._done(*given), self.loop)
        return asyncio.wrap_future(asked)

    async def _done(self, *given: object) -> object:
        return await self.work(*given)


def actor_of(store: MemoryStore, loop: asyncio.AbstractEventLoop | None = None) -> Actor:
    """`store` as an actor has it; on another loop it is asked from any."""

    def method(name: str) -> RemoteMethod:
        work: Callable[..., Awaitable[object]] = getattr(store, name)
        return Method(work, loop)

    return method


@contextmanager
def actor_between_loops() -> Iterator[Callable[[], RayStore]]:
    """Inside each call gives a store, and all of them are the same place: for servers that have
    loops of their own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="actor")
    thread.start()
    store = MemoryStore()
    try:
        yield lambda: RayStore(lambda: actor_of(store, loop))
    finally:
        asyncio.run_coroutine_threadsafe(wind_up(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def wind_up() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def fake_redis() -> RedisStore:
    """Redis in this process: its commands and scripts, no socket."""
    client = fakeredis.FakeAsyncRedis(server=fakeredis.FakeServer())
    return RedisStore(cast(RedisClient, client), "a fake")


@contextmanager
def real_redis(folder: Path) -> Iterator[str]:
    """A server of Redis of its own; its address."""
    program = shutil.which("redis-server")
    assert program is not None, "install Debian's package redis-server"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            with redis.Redis(port=port) as client:
                until_s = time.monotonic() + STARTS_S
                while time.monotonic() < until_s:
                    with suppress(redis.ConnectionError):
                        client.ping()
                        break
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.kill()


class Beats:
    """Pauses that end when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, asyncio.Future[None]]] = []

    async def pause(self, seconds: float) -> None:
        ended = asyncio.get_running_loop().create_future()
        self.waiting.append((seconds, ended))
        await ended

    async def over(self, seconds: float) -> None:
        """End the pauses that are no longer than that."""
        ending = [ended for length, ended in self.waiting if length <= seconds]
        self.waiting = [each for each in self.waiting if each[0] > seconds]
        for ended in ending:
            if not ended.done():
                ended.set_result(None)
        await settled()


async def settled() -> None:
    """Let everything run that can."""
    for _ in range(100):
        await asyncio.sleep(0)


class BrokenStore(MemoryStore):
    """A place that can be out of reach."""

    reachable = True

    def _check(self) -> None:
        if not self.reachable:
            raise StoreUnreachable("The place is out of reach.")

    async def claim(self, name: str, replica: str, keep_s: float, wait_s: float) -> Claim:
        self._check()
        return await super().claim(name, replica, keep_s, wait_s)

    async def write(self, holder: Holder, state: bytes | None, keep_s: float) -> Written:
        self._check()
        return await super().write(holder, state, keep_s)

    async def leave(self, holder: Holder, state: bytes | None, keep_s: float) -> None:
        self._check()
        await super().leave(holder, state, keep_s)

    async def reports(self) -> Mapping[str, str]:
        self._check()
        return await super().reports()

    async def report(self, replica: str, text: str, keep_s: float) -> None:
        self._check()
        await super().report(replica, text, keep_s)
