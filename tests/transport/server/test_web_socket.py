"""One connection, seen from the inside: backpressure, and ends of all kinds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import pytest
from starlette.websockets import WebSocket

from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import SocketGone
from s2s.transport.server.web_socket import POLICY, ServerSocket

Message = MutableMapping[str, Any]


class Wire:
    """The other side: frames that come, frames that went, and a reader that can stand still."""

    def __init__(self) -> None:
        self.coming: asyncio.Queue[Message] = asyncio.Queue()
        self.coming.put_nowait({"type": "websocket.connect"})
        self.sent: list[Message] = []
        self.reads = asyncio.Event()
        self.reads.set()

    async def receive(self) -> Message:
        return await self.coming.get()

    async def send(self, message: Message) -> None:
        if message["type"] == "websocket.send":
            await self.reads.wait()
        self.sent.append(message)

    def say(self, text: str) -> None:
        self.coming.put_nowait({"type": "websocket.receive", "text": text})

    def go(self, code: int = 1006) -> None:
        self.coming.put_nowait({"type": "websocket.disconnect", "code": code})

    def texts(self) -> list[str]:
        return [each["text"] for each in self.sent if each["type"] == "websocket.send"]

    def closed_with(self) -> list[int]:
        return [each["code"] for each in self.sent if each["type"] == "websocket.close"]


def run(test: Callable[[ServerSocket, Wire], Awaitable[None]], slow_reader_s: float = 30.0) -> Wire:
    async def main() -> Wire:
        wire = Wire()
        websocket = WebSocket({"type": "websocket"}, wire.receive, wire.send)
        await websocket.accept()
        config = ServeConfig(slow_reader_s=slow_reader_s)
        async with ServerSocket(websocket, config, lambda code: None) as socket:
            await test(socket, wire)
        return wire

    return asyncio.run(main())


def test_frames_come_and_go_in_order():
    async def test(socket: ServerSocket, wire: Wire) -> None:
        for text in ("a", "b", "c"):
            wire.say(text)
        assert [await socket.receive_text() for _ in range(3)] == ["a", "b", "c"]
        await asyncio.gather(*(socket.send_text(text) for text in ("x", "y", "z")))
        assert wire.texts() == ["x", "y", "z"]

    assert run(test).closed_with() == [1000]


def test_who_does_not_take_what_comes_lets_the_client_wait():
    async def test(socket: ServerSocket, wire: Wire) -> None:
        for number in range(10):
            wire.say(f"{number}")
        for _ in range(20):
            await asyncio.sleep(0)
        assert wire.coming.qsize() == 10
        assert await socket.receive_text() == "0"
        assert wire.coming.qsize() == 9

    run(test)


def test_a_client_that_has_gone_is_told_after_what_it_said():
    async def test(socket: ServerSocket, wire: Wire) -> None:
        wire.say("last words")
        wire.go(1001)
        assert await socket.receive_text() == "last words"
        assert await socket.receive_text() is None
        assert await socket.receive_text() is None
        assert socket.ended_by == "client"
        assert socket.left_on_purpose
        with pytest.raises(SocketGone):
            await socket.send_text("into nothing")

    assert run(test).closed_with() == []


def test_a_client_that_drops_has_not_left_on_purpose():
    async def test(socket: ServerSocket, wire: Wire) -> None:
        wire.go(1006)
        assert await socket.receive_text() is None
        assert not socket.left_on_purpose

    run(test)


def test_who_sends_waits_for_a_slow_reader():
    async def test(socket: ServerSocket, wire: Wire) -> None:
        wire.reads.clear()
        sending = asyncio.create_task(socket.send_text("much"))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not sending.done()
        wire.reads.set()
        await sending
        assert socket.ended_by is None

    run(test)


def test_a_reader_that_is_too_slow_is_closed():
    async def test(socket: ServerSocket, wire: Wire) -> None:
        wire.reads.clear()
        receiving = asyncio.create_task(socket.receive_text())
        with pytest.raises(SocketGone, match="slow_reader"):
            await socket.send_text("much")
        assert await receiving is None
        assert socket.ended_by == "slow_reader"
        with pytest.raises(SocketGone):
            await socket.send_text("more")

    assert run(test, slow_reader_s=0.01).closed_with() == [POLICY]


def test_a_close_of_ours_ends_both_directions():
    async def test(socket: ServerSocket, wire: Wire) -> None:
        receiving = asyncio.create_task(socket.receive_text())
        await asyncio.sleep(0)
        await socket.close(1000, "done")
        await socket.close(1000, "done")
        assert await receiving is None
        assert await socket.receive_text() is None

    assert run(test).closed_with() == [1000]


def test_a_session_that_is_cancelled_closes_its_connection():
    async def test(socket: ServerSocket, wire: Wire) -> None:
        raise ArithmeticError

    async def main() -> list[int]:
        wire = Wire()
        websocket = WebSocket({"type": "websocket"}, wire.receive, wire.send)
        await websocket.accept()
        with pytest.raises(ArithmeticError):
            async with ServerSocket(websocket, ServeConfig(), lambda code: None) as socket:
                await test(socket, wire)
        return wire.closed_with()

    assert asyncio.run(main()) == [1011]


def test_a_client_that_goes_while_something_is_sent_is_noticed():
    class Broken(Wire):
        async def send(self, message: Message) -> None:
            if message["type"] == "websocket.send":
                raise OSError("broken pipe")
            await super().send(message)

    async def main() -> None:
        wire = Broken()
        websocket = WebSocket({"type": "websocket"}, wire.receive, wire.send)
        await websocket.accept()
        async with ServerSocket(websocket, ServeConfig(), lambda code: None) as socket:
            with pytest.raises(SocketGone):
                await socket.send_text("x")
            assert await socket.receive_text() is None
            assert socket.ended_by == "client"
        assert not socket.left_on_purpose

    asyncio.run(main())


@pytest.mark.parametrize("code", [1000, 1006])
def test_what_a_client_said_before_it_went_is_heard_though_something_was_sent_to_it(code: int):
    class Closed(Wire):
        async def send(self, message: Message) -> None:
            if message["type"] == "websocket.send":
                raise OSError("broken pipe")
            await super().send(message)

    async def main() -> None:
        wire = Closed()
        websocket = WebSocket({"type": "websocket"}, wire.receive, wire.send)
        await websocket.accept()
        async with ServerSocket(websocket, ServeConfig(), lambda code: None) as socket:
            wire.say("not read any more")
            wire.go(code)
            with pytest.raises(SocketGone):
                await socket.send_text("x")
        assert socket.left_on_purpose == (code == 1000)

    asyncio.run(main())
