"""One server of tools: connected to when it is needed, dropped when it fails, connected to anew for
the next call. Lives on one event loop.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from s2s.core.untyped import is_list, is_mapping
from s2s.tools.config import McpServerConfig
from s2s.tools.tool import ToolError

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

MOST_TOOLS = 128
"""Of one server; a model is shown no more."""
CLOSING_S = 5.0
"""A program is given that long to end by itself."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as its server describes it."""

    name: str
    description: str
    parameters: Mapping[str, object]


class McpConnection:
    """A server. All methods but `offered` are called on its event loop.

    Args:
        name: what the person calls it.
        config: where it is.
        timeout_s: connecting may take, and asking for the tools.
    """

    def __init__(self, name: str, config: McpServerConfig, timeout_s: float) -> None:
        self.name = name
        self.offered: tuple[OfferedTool, ...] = ()
        """Its tools, as it told them last."""
        self._config = config
        self._timeout_s = timeout_s
        self._lock = asyncio.Lock()
        self._client: Client | None = None
        self._owner: asyncio.Task[None] | None = None
        self._close = asyncio.Event()
        self._ending: set[asyncio.Task[None]] = set()
        """Connections that are used no more, and have not ended."""

    @property
    def connected(self) -> bool:
        """It was there when it was asked last."""
        return self._client is not None

    async def connect(self) -> Client:
        """The client of the server, begun if there is none.

        Raises:
            ToolError: it cannot be reached; says why.
        """
        async with self._lock:
            if self._client is not None:
                return self._client
            ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._close = asyncio.Event()
            owner = self._owner = asyncio.create_task(self._own(ready, self._close))
            try:
                await asyncio.wait({ready}, timeout=self._timeout_s)
                why = f"did not answer within {self._timeout_s:g} s"
                if ready.done():
                    error = ready.exception()
                    if error is None and self._owner is owner:
                        self._client = ready.result()
                        return self._client
                    why = f"cannot be reached: {reason(error or ConnectionError('given up'))}"
                raise ToolError(f"the server {self.name} {why}")
            finally:
                if self._client is None:
                    if self._owner is owner:
                        self.abandon()
                    owner.cancel()  # it may wait for an answer that never comes

    async def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """What a tool gives.

        Raises:
            ToolError: the tool failed, or the server; then it is connected to anew next time, as
                after a call that was cancelled.
        """
        client = await self.connect()
        owner = self._owner
        assert owner is not None
        calling = asyncio.ensure_future(client.call_tool(tool, dict(arguments)))
        try:
            await asyncio.wait({calling, owner}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not calling.done():
                calling.cancel()
        error = calling.exception() if calling.done() else ConnectionError("it has ended")
        if error is not None:
            if self._owner is owner:
                self.abandon()
            raise ToolError(f"the server {self.name} failed: {reason(error)}")
        result = calling.result()
        text = result_text(result.model_dump(mode="json"))
        if result.is_error:
            raise ToolError(text)
        return text

    def abandon(self) -> None:
        """Use this connection no more; the next call begins anew."""
        owner, self._owner, self._client = self._owner, None, None
        self._close.set()
        if owner is not None and not owner.done():
            self._ending.add(owner)
            owner.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End the connection and the program. Idempotent."""
        self.abandon()
        if not self._ending:
            return
        _, running = await asyncio.wait(set(self._ending), timeout=CLOSING_S)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=CLOSING_S)

    async def _own(self, ready: asyncio.Future[Client], close: asyncio.Event) -> None:
        """Hold the connection open: what was entered in a task must be left in the same one."""
        try:
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(await self._opened(stack))
                self.offered = await _listed(client)
                if not ready.done():
                    ready.set_result(client)
                await close.wait()
        except Exception as error:  # whatever the package raises: it is told
            if not ready.done():
                ready.set_exception(error)
            else:
                log.warning("the tools of %s: their connection ended: %s", self.name, error)
                log.debug("the tools of %s: how it ended", self.name, exc_info=error)
        finally:
            if self._owner is asyncio.current_task():
                self._client = None
            if not ready.done():
                ready.set_exception(ConnectionError("it was given up"))
            if ready.done() and not ready.cancelled():
                ready.exception()  # known: nobody may wait for it any more

    async def _opened(self, stack: AsyncExitStack) -> Client:
        """A client, not yet entered."""
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        config = self._config
        if config.url is not None:
            if not config.headers:
                return Client(config.url)
            import httpx2

            headers = {key: os.path.expandvars(value) for key, value in config.headers.items()}
            web = await stack.enter_async_context(httpx2.AsyncClient(headers=headers))
            return Client(streamable_http_client(config.url, http_client=web))
        said = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        program = StdioServerParameters(
            command=config.command[0], args=list(config.command[1:]), env=dict(config.env) or None
        )
        return Client(stdio_client(program, errlog=said))


async def _listed(client: Client) -> tuple[OfferedTool, ...]:
    """The tools of a server, page by page."""
    found: list[OfferedTool] = []
    cursor: str | None = None
    while len(found) < MOST_TOOLS:
        page = await client.list_tools(cursor=cursor)
        found += [
            OfferedTool(each.name, each.description or each.name, each.input_schema)
            for each in page.tools
        ]
        cursor = page.next_cursor
        if not cursor:
            break
    return tuple(found[:MOST_TOOLS])


def result_text(result: object) -> str:
    """What a tool gave, as text. `result`: the protocol's object, as plain values."""
    if not is_mapping(result):
        return str(result)
    parts: list[str] = []
    content = result.get("content")
    for each in content if is_list(content) else []:
        if not is_mapping(each):
            continue
        resource = each.get("resource")
        text = each.get("text", resource.get("text") if is_mapping(resource) else None)
        parts.append(text if isinstance(text, str) else f"({each.get('type', 'something')})")
    structured = result.get("structured_content")
    if not parts and structured is not None:
        return json.dumps(structured, ensure_ascii=False)
    return "\n".join(parts) or "Done."


def usable_name(name: str) -> str:
    """A tool's name as every language model takes it."""
    return re.sub(r"[^A-Za-z0-9_\-]", "_", name)[:64] or "tool"


def reason(error: BaseException) -> str:
    """The innermost reason: groups of errors are how task groups tell of one."""
    inner = error
    while is_group(inner):
        inner = inner.exceptions[0]
    return str(inner) or type(inner).__name__


def is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    """Whether it is several errors in one."""
    return isinstance(error, BaseExceptionGroup)
