"""The data channel of a call as a `ClientSocket`, and the sockets that steer beside it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from aiortc import RTCDataChannel

from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import SocketGone
from s2s.transport.server.web_socket import EventRate, ServerSocket, error_event

MOST_UNSENT = 1 << 20
"""Bytes that may wait in the channel."""


class ChannelSocket:
    """Events of one call. On the loop of the call alone.

    Args:
        config: limits of what comes.
        on_error: told the code of each `error` event that is sent from here.
    """

    def __init__(self, config: ServeConfig, on_error: Callable[[str], None]) -> None:
        self._config = config
        self._on_error = on_error
        self._rate = EventRate(config.max_events_per_s, asyncio.get_running_loop().time)
        self._arrived: asyncio.Queue[str | None] = asyncio.Queue()
        self._channel: RTCDataChannel | None = None
        self._room = asyncio.Event()
        self._sides: set[ServerSocket] = set()
        self._greeting = ""
        self.gone = asyncio.Event()
        """Set once the call is over."""
        self.left_on_purpose = False
        """The client ended it, and was not just gone."""
        self._closed = asyncio.Event()

    def open(self, channel: RTCDataChannel) -> None:
        """The client's channel is there."""
        self._channel = channel
        channel.bufferedAmountLowThreshold = MOST_UNSENT // 2
        channel.on("message", self.came)
        channel.on("bufferedamountlow", self._room.set)
        channel.on("close", self._on_close)

    def came(self, message: str | bytes) -> None:
        """The client says something."""
        refusal = self._refusal(message)
        if refusal is None:
            assert isinstance(message, str)
            self._arrived.put_nowait(message)
            return
        self._on_error(refusal[0])
        if self._channel is not None and self._channel.readyState == "open":
            self._channel.send(error_event(*refusal))

    async def receive_text(self) -> str | None:
        """See `ClientSocket`."""
        if self.gone.is_set() and self._arrived.empty():
            return None
        return await self._arrived.get()

    async def send_text(self, text: str) -> None:
        """See `ClientSocket`."""
        channel = self._channel
        if channel is None or self.gone.is_set():
            raise SocketGone("the call has ended")
        self._greeting = self._greeting or text
        for side in tuple(self._sides):
            with contextlib.suppress(SocketGone):
                await side.send_text(text)
        if channel.bufferedAmount > MOST_UNSENT:
            self._room.clear()
            try:
                async with asyncio.timeout(self._config.slow_reader_s):
                    await self._room.wait()
            except TimeoutError:
                self.end()
        if self.gone.is_set() or channel.readyState != "open":
            raise SocketGone("the call has ended")
        channel.send(text)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """See `ClientSocket`."""
        del code, reason  # a channel has none
        self.end()

    def end(self) -> None:
        """The call is over. Idempotent."""
        if not self.gone.is_set():
            self.gone.set()
            self._room.set()
            self._arrived.put_nowait(None)

    def leave(self) -> None:
        """The client says that it is over. Idempotent."""
        if not self.gone.is_set():
            self.left_on_purpose = True
            self.end()

    async def say_goodbye(self, most_s: float) -> None:
        """Close the channel once all has left, and wait until the client has agreed, but no longer
        than `most_s`: a connection that closes under an open channel is an error to browsers."""
        channel = self._channel
        if channel is None or channel.readyState not in ("open", "closing"):
            return
        channel.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await self._closed.wait()

    async def beside(self, socket: ServerSocket) -> None:
        """A second socket that is told all that the client is told, and may say what it may, until
        it or the call has gone."""
        if self._greeting:
            await socket.send_text(self._greeting)
        self._sides.add(socket)
        reading = asyncio.ensure_future(self._read(socket))
        over = asyncio.ensure_future(self.gone.wait())
        try:
            await asyncio.wait([reading, over], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._sides.discard(socket)
            for task in (reading, over):
                task.cancel()
            await asyncio.gather(reading, over, return_exceptions=True)

    async def _read(self, socket: ServerSocket) -> None:
        while (text := await socket.receive_text()) is not None:
            self._arrived.put_nowait(text)

    def _on_close(self) -> None:
        """A client that is done closes the channel on a connection that stands; one that is just
        gone takes the connection with it."""
        self._closed.set()
        if self._channel is not None and self._channel.transport.state == "connected":
            self.leave()
        self.end()

    def _refusal(self, message: str | bytes) -> tuple[str, str] | None:
        """Code and message of why it is not read; None when it is."""
        if isinstance(message, bytes):
            return "invalid_event", "Events are text; this one was binary."
        most = self._config.max_message_bytes
        if len(message) > most:
            return (
                "event_too_large",
                f"The event has {len(message)} characters; {most} is the most.",
            )
        if self._rate.admit():
            return None
        return (
            "rate_limit_exceeded",
            f"More than {self._config.max_events_per_s:g} events a second: this one was not read.",
        )
