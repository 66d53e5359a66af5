"""A port: who is let in, how many, and its end; see test_server.py for what is behind it."""

from __future__ import annotations

import asyncio
import threading

from wyoming.client import AsyncTcpClient
from wyoming.event import async_write_event
from wyoming.ping import Pong

from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.connection import Streams
from s2s.transport.wyoming.port import WyomingPort
from tests.support.wyoming import WAIT_S


def test_each_connection_is_served_and_closed_behind_it() -> None:
    async def serve(streams: Streams) -> None:
        await async_write_event(Pong("hello").event(), streams[1])

    async def main() -> list[str | None]:
        kinds: list[str | None] = []
        async with AsyncTcpClient("127.0.0.1", port.number) as client:
            for _ in range(2):
                event = await asyncio.wait_for(client.read_event(), WAIT_S)
                kinds.append(None if event is None else event.type)
        return kinds

    port = WyomingPort(WyomingConfig(zeroconf=False), "test", 0, serve)
    listens = threading.Event()
    port.ready = listens.set
    thread = threading.Thread(target=port.run)
    thread.start()
    try:
        assert listens.wait(WAIT_S)
        assert asyncio.run(main()) == ["pong", None]
    finally:
        port.stop()
        thread.join(WAIT_S)
    assert not thread.is_alive()
