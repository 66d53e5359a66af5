"""The server of models: one port, whose connections share them."""

from __future__ import annotations

from collections.abc import Callable

from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.connection import Streams, WyomingConnection
from s2s.transport.wyoming.conversations import Conversations
from s2s.transport.wyoming.port import WyomingPort
from s2s.transport.wyoming.services import JobThreads, WyomingServices


class WyomingServer:
    """One server.

    Args:
        addresses: see `WyomingPort`.

    Raises:
        ValueError: other machines reach it, and nothing says who may.
    """

    def __init__(
        self,
        config: WyomingConfig,
        services: WyomingServices,
        addresses: Callable[[], list[str]] = list,
    ) -> None:
        self._config = config
        self._services = services
        self._threads = JobThreads(config.max_connections)
        self._conversations = Conversations(services, self._threads, config.conversations)
        self._port = WyomingPort(config, config.name, config.port, self._serve, addresses)
        self._port.ready = lambda: self.ready()
        self.ready: Callable[[], None] = lambda: None
        """Called once it listens."""

    @property
    def port(self) -> int:
        """Once it listens."""
        return self._port.number

    def run(self) -> None:
        """Serve until `stop`.

        Raises:
            WyomingError: it cannot listen.
        """
        try:
            self._port.run()
        finally:
            self._threads.close()

    def stop(self) -> None:
        """End soon; from any thread and from a signal handler. Idempotent."""
        self._port.stop()

    async def _serve(self, streams: Streams) -> None:
        """The life of a connection."""
        await WyomingConnection(
            streams, self._services, self._config, self._threads, self._conversations
        ).run()
