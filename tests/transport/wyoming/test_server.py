"""A port and its connections: who is let in, how many, and the end."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.ping import Ping

from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.port import WyomingError
from s2s.transport.wyoming.server import WyomingServer
from tests.support.wyoming import WAIT_S, exchange, fake_wyoming, wyoming_served


def test_many_connections_are_served_at_a_time_and_one_too_many_is_told() -> None:
    async def main(port: int) -> tuple[list[str], str]:
        clients = [AsyncTcpClient("127.0.0.1", port) for _ in range(8)]
        told: list[str] = []
        for client in clients:
            await client.connect()
            await client.write_event(Ping("here").event())
            event = await asyncio.wait_for(client.read_event(), WAIT_S)
            assert event is not None
            told.append(event.type)
        async with AsyncTcpClient("127.0.0.1", port) as late:
            event = await asyncio.wait_for(late.read_event(), WAIT_S)
            assert event is not None
            error = Error.from_event(event)
        for client in clients:
            await client.disconnect()
        return told, error.code or ""

    with wyoming_served(config=WyomingConfig(zeroconf=False, max_connections=8)) as port:
        assert asyncio.run(main(port)) == (["pong"] * 8, "busy")


def test_who_is_not_on_the_list_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def nobody(rule: object, address: str) -> bool:
        return False

    monkeypatch.setattr("s2s.transport.wyoming.admission.Admission.admits", nobody)
    with caplog.at_level(logging.CRITICAL), wyoming_served() as port:
        events = exchange(port, [Ping()], "pong")
    assert [event.type for event in events] == ["error"]
    assert events[0].data["code"] == "not_allowed"
    assert "--allow 127.0.0.1" in events[0].data["text"]


def test_the_end_of_the_server_ends_its_connections() -> None:
    async def main(port: int, stop: threading.Event) -> None:
        async with AsyncTcpClient("127.0.0.1", port) as client:
            await client.write_event(Ping().event())
            assert await asyncio.wait_for(client.read_event(), WAIT_S) is not None
            stop.set()
            assert await asyncio.wait_for(client.read_event(), WAIT_S) is None

    server = WyomingServer(WyomingConfig(zeroconf=False, port=0), fake_wyoming())
    listens, stop = threading.Event(), threading.Event()
    server.ready = listens.set
    serving = threading.Thread(target=server.run)
    stopping = threading.Thread(target=lambda: (stop.wait(WAIT_S), server.stop()))
    serving.start()
    stopping.start()
    assert listens.wait(WAIT_S)
    asyncio.run(main(server.port, stop))
    for thread in (serving, stopping):
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_a_server_that_was_stopped_before_it_began_does_not_begin() -> None:
    server = WyomingServer(WyomingConfig(zeroconf=False, port=0), fake_wyoming())
    server.stop()
    server.run()
    assert server.port == 0


def test_a_port_that_is_taken_is_an_error_that_says_what_to_do() -> None:
    with wyoming_served() as port:
        server = WyomingServer(WyomingConfig(zeroconf=False, port=port), fake_wyoming())
        with pytest.raises(WyomingError, match="choose another port with --port"):
            server.run()
