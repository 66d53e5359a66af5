"""Events of a call through its channel: in both directions, within limits, to the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest
from aiortc import RTCDataChannel

from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import SocketGone
from s2s.transport.webrtc.channel import MOST_UNSENT, ChannelSocket

WAIT_S = 60.0


class FakeChannel:
    """What of a data channel is used."""

    def __init__(self) -> None:
        self.bufferedAmount = 0
        self.bufferedAmountLowThreshold = 0
        self.readyState = "open"
        self.transport = SimpleNamespace(state="connected")
        self.sent: list[str] = []
        self.handlers: dict[str, Callable[..., object]] = {}

    def on(self, event: str, handler: Callable[..., object]) -> None:
        self.handlers[event] = handler

    def send(self, text: str) -> None:
        self.sent.append(text)

    def close(self) -> None:
        self.readyState = "closing"


Main = Callable[[ChannelSocket, FakeChannel], Awaitable[None]]


def run(main: Main, config: ServeConfig | None = None) -> list[str]:
    """The codes of the errors that were told."""
    codes: list[str] = []

    async def whole() -> None:
        socket, channel = ChannelSocket(config or ServeConfig(), codes.append), FakeChannel()
        opened: RTCDataChannel = channel  # pyright: ignore[reportAssignmentType]
        socket.open(opened)
        await asyncio.wait_for(main(socket, channel), WAIT_S)

    asyncio.run(whole())
    return codes


def test_texts_come_and_go_until_the_call_is_over() -> None:
    async def main(socket: ChannelSocket, channel: FakeChannel) -> None:
        channel.handlers["message"]("one")
        channel.handlers["message"]("two")
        assert await socket.receive_text() == "one"
        await socket.send_text("three")
        assert channel.sent == ["three"]
        channel.handlers["close"]()
        assert await socket.receive_text() == "two"
        assert await socket.receive_text() is None
        assert await socket.receive_text() is None
        with pytest.raises(SocketGone):
            await socket.send_text("four")
        assert socket.left_on_purpose

    assert run(main) == []


def test_a_channel_that_ends_with_its_connection_was_not_closed_on_purpose() -> None:
    async def main(socket: ChannelSocket, channel: FakeChannel) -> None:
        channel.transport.state = "closed"
        channel.handlers["close"]()
        assert socket.gone.is_set()
        assert not socket.left_on_purpose

    assert run(main) == []


def test_a_server_that_ends_a_call_leaves_it_to_its_client_to_come_back() -> None:
    async def main(socket: ChannelSocket, channel: FakeChannel) -> None:
        socket.end()
        channel.handlers["close"]()
        assert not socket.left_on_purpose
        socket.leave()
        assert not socket.left_on_purpose

    assert run(main) == []


def test_what_is_not_read_is_told() -> None:
    async def main(socket: ChannelSocket, channel: FakeChannel) -> None:
        for message in (b"bytes", "x" * 20, *["y"] * 5):
            channel.handlers["message"](message)
        assert await socket.receive_text() == "y"
        codes = [json.loads(text)["error"]["code"] for text in channel.sent]
        assert codes[:2] == ["invalid_event", "event_too_large"]
        assert set(codes[2:]) == {"rate_limit_exceeded"}

    config = ServeConfig(max_message_bytes=10, max_events_per_s=0.5)
    assert len(run(main, config)) >= 4


def test_a_client_that_takes_nothing_is_waited_for_and_then_gone() -> None:
    async def main(socket: ChannelSocket, channel: FakeChannel) -> None:
        channel.bufferedAmount = MOST_UNSENT + 1
        sending = asyncio.ensure_future(socket.send_text("one"))
        await asyncio.wait([asyncio.ensure_future(socket.close()), sending])
        with pytest.raises(SocketGone):
            await sending
        assert channel.sent == []

    run(main)

    async def slow(socket: ChannelSocket, channel: FakeChannel) -> None:
        channel.bufferedAmount = MOST_UNSENT + 1
        with pytest.raises(SocketGone):
            await socket.send_text("one")
        assert socket.gone.is_set()

    run(slow, ServeConfig(slow_reader_s=0.01))


def test_a_client_that_reads_again_is_sent_the_rest() -> None:
    async def main(socket: ChannelSocket, channel: FakeChannel) -> None:
        channel.bufferedAmount = MOST_UNSENT + 1
        sending = asyncio.ensure_future(socket.send_text("one"))
        asyncio.get_running_loop().call_soon(channel.handlers["bufferedamountlow"])
        await sending
        assert channel.sent == ["one"]

    run(main)


def test_the_channel_closes_when_its_client_agrees() -> None:
    async def main(socket: ChannelSocket, channel: FakeChannel) -> None:
        parting = asyncio.ensure_future(socket.say_goodbye(WAIT_S))
        await asyncio.sleep(0)
        assert channel.readyState == "closing"
        assert not parting.done()
        channel.handlers["close"]()
        await parting
        assert socket.gone.is_set()
        channel.readyState = "closed"
        await socket.say_goodbye(WAIT_S)

    run(main)


def test_a_client_that_does_not_agree_is_not_waited_for() -> None:
    async def main(socket: ChannelSocket, channel: FakeChannel) -> None:
        await socket.say_goodbye(0.01)
        assert channel.readyState == "closing"

    run(main)
