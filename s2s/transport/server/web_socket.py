"""One client's WebSocket: limits on what comes, patience with who reads slowly."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import SocketGone

T = TypeVar("T")
Ending = Literal["client", "server", "slow_reader", "taken_over", "failed"]
"""Who or what ended a connection."""

BURST_S = 4.0
"""So many seconds' worth of messages may come at once: a client that catches up."""

POLICY = 1008
"""Close code of who broke a rule; stock clients do not come back at once then."""
ON_PURPOSE = (1000, 1001)
"""Close codes of a client that is done, and of a browser that leaves the page."""
TAKEN_OVER = 4001
"""Close code of a connection whose client came again on another."""


class EventRate:
    """How many messages come in a second: a bucket that fills steadily.

    Args:
        per_s: messages a second, over a longer time.
        now: seconds of any clock.
    """

    def __init__(self, per_s: float, now: Callable[[], float]) -> None:
        self._per_s = per_s
        self._now = now
        self._left = per_s * BURST_S
        self._at_s = now()

    def admit(self) -> bool:
        """Another one comes; False when it is one too many."""
        now_s = self._now()
        self._left = min(self._per_s * BURST_S, self._left + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        if self._left < 1:
            return False
        self._left -= 1
        return True


def error_event(code: str, message: str) -> str:
    """An `error` event as text, about a message that was not read."""
    error = {
        "type": "invalid_request_error",
        "code": code,
        "message": message,
        "param": None,
        "event_id": None,
    }
    event_id = f"event_{uuid.uuid4().hex[:20]}"
    return json.dumps({"type": "error", "event_id": event_id, "error": error})


class ServerSocket:
    """A `ClientSocket` on starlette's. Used with `async with` after the upgrade.

    Args:
        websocket: accepted.
        config: its limits.
        on_error: told the code of each `error` event that is sent from here.
    """

    def __init__(
        self, websocket: WebSocket, config: ServeConfig, on_error: Callable[[str], None]
    ) -> None:
        self._websocket = websocket
        self._config = config
        self._on_error = on_error
        self._rate = EventRate(config.max_events_per_s, asyncio.get_running_loop().time)
        self._waits: asyncio.Timeout | None = None
        """For the client's next frame; None while nobody does."""
        self._sending = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None
        self.ended_by: Ending | None = None
        """None while it is open."""
        self.left_on_purpose = False
        """The client closed it, and was not just gone."""

    async def __aenter__(self) -> ServerSocket:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.end(1000, "", "server")
        else:
            self.end(1011, "the session failed", "failed")
        if self.ended_by == "client":
            await self._hear_it_go()
        if self._closing is not None:
            await self._closing

    async def receive_text(self) -> str | None:
        """See `ClientSocket`. It is read when it is asked for: who does not lets the client wait,
        and no task stands between the two, whose turn on the loop would cost a silent session a
        tenth of what it takes."""
        while self.ended_by is None:
            message = await self._next_message()
            if message is None:
                break
            text: str | None = message.get("text")
            if (refusal := self._refusal(text)) is None:
                return text
            self._on_error(refusal[0])
            with contextlib.suppress(SocketGone):
                await self.send_text(error_event(*refusal))
        return None

    async def _next_message(self) -> Message | None:
        """The next frame as starlette has it; None: the client has gone."""
        try:
            async with asyncio.timeout(None) as self._waits:
                message = await self._websocket.receive()
        except TimeoutError:  # `_gone`
            return None
        finally:
            self._waits = None
        if message["type"] == "websocket.disconnect":
            self._has_left(message.get("code"))
            return None
        return message

    async def receive_any(self) -> str | bytes | None:
        """As `receive_text`, for a protocol that has binary frames too."""
        while self.ended_by is None:
            message = await self._next_message()
            if message is None:
                break
            data: str | bytes = message.get("text") or message.get("bytes") or ""
            if (refusal := self._too_much(len(data))) is None:
                return data
            self._on_error(refusal[0])
            with contextlib.suppress(SocketGone):
                await self.send_text(error_event(*refusal))
        return None

    async def send_text(self, text: str) -> None:
        """See `ClientSocket`. Frames go out in the order of the calls."""
        await self._send(self._websocket.send_text, text)

    async def send_bytes(self, data: bytes) -> None:
        """As `send_text`, a binary frame."""
        await self._send(self._websocket.send_bytes, data)

    async def _send(self, send: Callable[[T], Awaitable[None]], frame: T) -> None:
        async with self._sending:
            if self.ended_by is not None:
                raise SocketGone(f"the connection has ended: {self.ended_by}")
            try:
                async with asyncio.timeout(self._config.slow_reader_s):
                    await send(frame)
            except TimeoutError:
                self.end(POLICY, "this client reads too slowly", "slow_reader")
            except (WebSocketDisconnect, RuntimeError, OSError):
                self._gone("client")
            else:
                return
        raise SocketGone(f"the connection has ended: {self.ended_by}")

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """See `ClientSocket`."""
        self.end(code, reason, "server")
        if self._closing is not None:
            await asyncio.shield(self._closing)

    def end(self, code: int, reason: str, by: Ending) -> None:
        """End the connection without waiting for the client's answer. Idempotent."""
        if self.ended_by is None:
            self._gone(by)
            self._closing = asyncio.create_task(self._close(code, reason))

    def _gone(self, by: Ending) -> None:
        if self.ended_by is None:
            self.ended_by = by
            if self._waits is not None:
                self._waits.reschedule(asyncio.get_running_loop().time())

    def _has_left(self, code: object) -> None:
        self.ended_by = self.ended_by or "client"
        self.left_on_purpose = code in ON_PURPOSE

    async def _hear_it_go(self) -> None:
        """A client that went while something was sent to it may have said so before."""
        with contextlib.suppress(TimeoutError, RuntimeError):
            async with asyncio.timeout(0):  # what has come is there without waiting
                while self._websocket.client_state is WebSocketState.CONNECTED:
                    message = await self._websocket.receive()
                    if message["type"] == "websocket.disconnect":
                        self._has_left(message.get("code"))

    async def _close(self, code: int, reason: str) -> None:
        if self._websocket.application_state is WebSocketState.CONNECTED:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
                await self._websocket.close(code, reason)

    def _refusal(self, text: str | None) -> tuple[str, str] | None:
        """Code and message of why a frame is not read; None when it is."""
        if text is None:
            return "invalid_event", "Events are text frames; this one was binary."
        return self._too_much(len(text))

    def _too_much(self, length: int) -> tuple[str, str] | None:
        most = self._config.max_message_bytes
        if length > most:
            return (
                "event_too_large",
                f"The event has {length} characters; {most} is the most. Send it in parts.",
            )
        if self._rate.admit():
            return None
        return (
            "rate_limit_exceeded",
            f"More than {self._config.max_events_per_s:g} events a second: this one was not read.",
        )
