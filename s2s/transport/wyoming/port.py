"""A port of the Wyoming protocol: it listens, lets in who may come, tells the network, and ends."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from s2s.transport.wyoming.admission import Admission
from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.connection import Streams, farewell
from s2s.transport.wyoming.framing import HEADER_BYTES

log = logging.getLogger(__name__)


class WyomingError(RuntimeError):
    """The server cannot listen. The message says why, and what to do."""


class WyomingPort:
    """One port.

    Args:
        config: who is let in, and how many.
        name: what the network is told.
        number: of the port; 0 takes a free one.
        serve: the life of one connection, which it need not close.
        addresses: of this machine as others reach it: the network is told them; none, and it is
            told nothing.

    Raises:
        ValueError: other machines reach it, and nothing says who may.
    """

    def __init__(
        self,
        config: WyomingConfig,
        name: str,
        number: int,
        serve: Callable[[Streams], Awaitable[None]],
        addresses: Callable[[], list[str]] = list,
    ) -> None:
        self._config = config
        self._name = name
        self._wanted = number
        self._serve = serve
        self._addresses = addresses
        self._admission = Admission.of(config)
        self._connections: set[asyncio.Task[None]] = set()
        self._stopping = threading.Event()
        self._stop: Callable[[], None] = lambda: None
        self.number = 0
        """Once it listens."""
        self.ready: Callable[[], None] = lambda: None
        """Called then, on its event loop."""

    def run(self) -> None:
        """Serve until `stop`.

        Raises:
            WyomingError: it cannot listen.
        """
        asyncio.run(self._run())

    def stop(self) -> None:
        """End soon; from any thread and from a signal handler. Idempotent."""
        self._stopping.set()
        self._stop()

    async def _run(self) -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()

        def stop() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(stopped.set)

        self._stop = stop
        if self._stopping.is_set():
            return
        listening = await self._listen()
        try:
            async with AsyncExitStack() as stack:
                self.number = int(listening.sockets[0].getsockname()[1])
                await self._announce(stack)
                self.ready()
                await stopped.wait()
        finally:
            listening.close()
            for connection in self._connections:
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    async def _listen(self) -> asyncio.Server:
        host, port = self._config.host, self._wanted
        try:
            return await asyncio.start_server(self._come, host, port, limit=HEADER_BYTES)
        except OSError as error:
            raise WyomingError(
                f"cannot listen on {host}:{port} ({error.strerror or error}). Another server may "
                "be there: choose another port with --port."
            ) from error

    async def _announce(self, stack: AsyncExitStack) -> None:
        addresses = self._addresses() if self._config.zeroconf else []
        if not addresses:
            return
        from s2s.transport.wyoming.announce import announced, service_info

        info = service_info(self._name, self.number, addresses)
        try:
            await stack.enter_async_context(announced(info))
        except OSError as error:
            log.warning("the network could not be told of the Wyoming server: %s", error)

    async def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A client: let in, or told why not."""
        task = asyncio.current_task()
        assert task is not None
        refusal = self._refusal(writer)
        if refusal is not None:
            await farewell((reader, writer), *refusal)
            writer.close()
            return
        self._connections.add(task)
        try:
            await self._serve((reader, writer))
        except asyncio.CancelledError:
            pass  # the server ends
        finally:
            self._connections.discard(task)
            writer.close()

    def _refusal(self, writer: asyncio.StreamWriter) -> tuple[str, str] | None:
        """Code and message for who is not let in."""
        peer: tuple[str, ...] = writer.get_extra_info("peername") or ("",)
        address = peer[0]
        if not self._admission.admits(address):
            log.warning("wyoming: %s is not let in; --allow names who is", address)
            return "not_allowed", f"{address} is not let in here: start s2s with --allow {address}."
        if len(self._connections) >= self._config.max_connections:
            return "busy", f"All {self._config.max_connections} connections are taken. Come again."
        return None
