"""The sockets of a replica, as those of a server on one machine are.

Ray Serve listens in the process of a replica by a uvicorn of its own, with uvicorn's defaults and a
queue without end between the socket and the application: docs/decisions/cluster-sockets.md. Here
that uvicorn gets the settings of `s2s serve`, and the application its sockets without that queue.
Knows the names that both agree on, and imports no Ray.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any

import uvicorn

from s2s.transport.server.run import SocketLimits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Coroutine[Any, Any, None]]

UNQUEUED = (b"x-request-disconnect-disabled", b"?1")
"""With this header Serve hands the application uvicorn's own `receive`, and watches nothing: else
it reads whatever comes into a queue without end, and a client that sends too fast is not made to
wait. That the client went is heard by the application itself."""
HEALTH_PATH = "/-/healthz"
"""Where each replica tells whether it may be sent clients: 503 from the moment it is to end."""


class ReplicaSockets:
    """The application of one replica behind Ray's uvicorn."""

    def __init__(self, limits: SocketLimits) -> None:
        self._limits = limits
        self._app: App | None = None

    @property
    def listening(self) -> bool:
        """Clients reach this process without a proxy of Python in between."""
        return self._app is not None

    def install(self) -> None:
        """Before Ray listens: what is made of `uvicorn.Config` from now on has these limits."""
        sockets = self

        class _Config(uvicorn.Config):
            def __init__(self, *given: Any, **named: Any) -> None:
                super().__init__(*given, **named)
                sockets.limit(self)

            def load(self) -> None:
                super().load()
                self.loaded_app = sockets.wrapped(self.loaded_app)

        uvicorn.Config = _Config

    def limit(self, config: uvicorn.Config) -> None:
        """Set these limits, whatever was asked for."""
        config.ws_max_size = self._limits.max_message_bytes
        config.ws_max_queue = self._limits.waiting_messages
        config.ws_ping_interval = config.ws_ping_timeout = self._limits.ping_s
        config.ws_per_message_deflate = False
        config.server_header = False

    def wrapped(self, app: App) -> App:
        """`app` with the header that keeps Serve's queue out."""
        self._app = app

        async def unqueued(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] in ("http", "websocket"):
                kept = [each for each in scope["headers"] if each[0].lower() != UNQUEUED[0]]
                scope["headers"] = [*kept, UNQUEUED]
            await app(scope, receive, send)

        return unqueued

    async def ends(self) -> bool:
        """The engine has decided that this replica ends; it says so at `HEALTH_PATH`, before it
        closes anything."""
        if self._app is None:
            return False
        told: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            told.append(message)

        scope: Message = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": HEALTH_PATH,
            "raw_path": HEALTH_PATH.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [],
            "client": None,
            "server": None,
        }
        await self._app(scope, receive, send)
        body = b"".join(each.get("body", b"") for each in told)
        return b"DRAINING" in body
