"""The server as a process: uvicorn on a port, until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from s2s.transport.server.app import make_app
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.server import Server
from s2s.transport.server.tls import TlsFiles

log = logging.getLogger(__name__)

PING_S = 20.0
"""A connection that says nothing is asked whether it is still there so often, and has as long to
answer: a half-open one is noticed within twice this."""
BACKLOG = 2048
SHUTDOWN_S = 5
"""What the end waits for answers that are being sent."""
WAITING_MESSAGES = 8
"""Frames of one client that uvicorn keeps while nobody takes them."""


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """What is set of the WebSockets of a server, whoever listens for it."""

    max_message_bytes: int
    waiting_messages: int
    ping_s: float

    @classmethod
    def of(cls, config: ServeConfig) -> SocketLimits:
        """As the settings say."""
        return cls(2 * config.max_message_bytes, WAITING_MESSAGES, PING_S)


class ServerError(RuntimeError):
    """The server cannot listen. The message says why, and what to do."""


class WebServer:
    """One server on its port.

    Args:
        server: what it serves.
        bound: a socket of `bind`; whoever made it closes it.
        tls: what it serves https with; None: http.
    """

    def __init__(self, server: Server, bound: socket.socket, tls: TlsFiles | None = None) -> None:
        limits = SocketLimits.of(server.config)
        self._socket = bound
        self.port = int(bound.getsockname()[1])
        self._uvicorn = _Quiet(
            uvicorn.Config(
                make_app(server),
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="on",
                ws_max_size=limits.max_message_bytes,
                ws_max_queue=limits.waiting_messages,
                ws_ping_interval=limits.ping_s,
                ws_ping_timeout=limits.ping_s,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=SHUTDOWN_S,
                ssl_certfile=None if tls is None else str(tls.certificate),
                ssl_keyfile=None if tls is None else str(tls.key),
            )
        )
        self.ready: Callable[[], None] = lambda: None
        """Called once it listens."""
        self.drain: Callable[[], Awaitable[None]] | None = None
        """Done at its end, while it still listens."""

    def run(self) -> None:
        """Serve until `stop`."""
        self._uvicorn.ready = self.ready
        self._uvicorn.drain = self.drain
        self._socket.listen(BACKLOG)
        # uvloop where it is installed: a silent session takes 0.05 % of a core less.
        loop_factory = self._uvicorn.config.get_loop_factory()
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(self._uvicorn.serve([self._socket]))

    def stop(self) -> None:
        """End soon; from any thread and from a signal handler. Idempotent."""
        self._uvicorn.should_exit = True


class _Quiet(uvicorn.Server):
    """uvicorn without its handling of signals, which is the program's."""

    ready: Callable[[], None] = staticmethod(lambda: None)
    drain: Callable[[], Awaitable[None]] | None = None

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.drain is not None:
            await self.drain()
        await super().shutdown(sockets)


def bind(config: ServeConfig) -> socket.socket:
    """A socket on the port, on which nobody is let in before `WebServer.run`. To be closed.

    Raises:
        ServerError: the port is taken, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # asyncio turns off Nagle's algorithm only where TCP is named: else a small frame behind another
    # waits up to 40 ms for the client's acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((config.host, config.port))
    except OSError as error:
        bound.close()
        raise ServerError(
            f"cannot listen on {config.host}:{config.port} ({error.strerror or error}). Another "
            "server may be there: choose another port with --port."
        ) from error
    return bound
