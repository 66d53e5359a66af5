"""The servers of tools of a configuration, on an event loop of their own in one thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import CancelledError, Future
from typing import TypeVar

from s2s.core.answering import ToolSchema
from s2s.core.tooling import ToolHints
from s2s.tools.config import McpServerConfig
from s2s.tools.mcp.connection import CLOSING_S, McpConnection, OfferedTool, usable_name
from s2s.tools.tool import Tool, ToolContext, ToolError

log = logging.getLogger(__name__)

T = TypeVar("T")


class McpServers:
    """`s2s.tools.toolbox.ToolSource` of several servers. Safe from any thread.

    Args:
        servers: by the names that the person gave them.
        patience_s: connecting may take.
        notice: told what the person should know.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServerConfig],
        *,
        patience_s: float,
        notice: Callable[[str], None] = lambda text: log.warning("%s", text),
    ) -> None:
        self._notice = notice
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="s2s-mcp", daemon=True)
        self._lock = threading.Lock()
        self._closed = False
        self._trying: dict[str, Future[object]] = {}
        """Servers that are being connected to in the background."""
        self._servers = [McpConnection(*each, patience_s) for each in servers.items()]
        self._wanted = {name: set(each.tools) for name, each in servers.items()}
        self._thread.start()

    def tools(self) -> Iterable[Tool]:
        """What the servers offered last. One that is not there is tried again meanwhile."""
        for server in self._servers:
            if not server.connected and not server.offered:
                self._try(server)
            wanted = self._wanted[server.name]
            for offered in server.offered:
                if not wanted or offered.name in wanted:
                    yield self._tool(server, offered)

    def connect(self) -> None:
        """Connect to all of them, and tell of those that cannot be."""
        for future in [self._try(server) for server in self._servers]:
            if future is not None:
                future.exception()

    def close(self) -> None:
        """End all of it. Idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        try:
            self._submit(self._close_all()).result(timeout=3 * CLOSING_S)
        except TimeoutError:
            log.warning("a server of tools did not end in time")
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSING_S)

    # --- inside ----------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _submit(self, work: Coroutine[object, object, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _try(self, server: McpConnection) -> Future[object] | None:
        """Begin to connect to a server, unless that is being done."""
        with self._lock:
            running = self._trying.get(server.name)
            if self._closed or (running is not None and not running.done()):
                return running
            future = self._trying[server.name] = self._submit(self._connect(server))
            return future

    async def _connect(self, server: McpConnection) -> object:
        try:
            await server.connect()
        except ToolError as error:
            self._notice(f"{str(error)[0].upper()}{str(error)[1:]}.")
        return None

    async def _close_all(self) -> None:
        await asyncio.gather(*(server.close() for server in self._servers))

    def _tool(self, server: McpConnection, offered: OfferedTool) -> Tool:
        schema = ToolSchema(usable_name(offered.name), offered.description, offered.parameters)

        def run(arguments: Mapping[str, object], context: ToolContext) -> object:
            return self._call(server, offered.name, arguments, context)

        return Tool(schema, dict, run, ToolHints(schema), origin=server.name)

    def _call(
        self,
        server: McpConnection,
        name: str,
        arguments: Mapping[str, object],
        context: ToolContext,
    ) -> str:
        """Wait for a call, which is cancelled when nobody waits for it any more."""
        future = self._submit(server.call(name, arguments))

        def look() -> None:
            if context.stopped():
                # It may hang. What is called from now on finds that connection gone.
                self._loop.call_soon_threadsafe(server.abandon)
                future.cancel()

        forget = context.stopped.listen(look)
        look()
        try:
            return future.result()
        except CancelledError:
            raise ToolError(f"the server {server.name} was not waited for any longer") from None
        finally:
            forget()
