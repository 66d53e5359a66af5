"""Clients of HTTP that do not read what they asked for: their connection is ended."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class SlowReadersGo:
    """An ASGI middleware.

    Args:
        app: what it stands before.
        after_s: what a client has for each piece of an answer.
    """

    def __init__(self, app: ASGIApp, after_s: float) -> None:
        self._app = app
        self._after_s = after_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. WebSockets have a patience of their own.

        Raises:
            TimeoutError: the client reads nothing; the server ends its connection.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def patient(message: Message) -> None:
            async with asyncio.timeout(self._after_s):
                await send(message)

        await self._app(scope, receive, patient)
