"""Requests to a server by the official `openai` client, each given up at any moment.

The client's asynchronous half runs in one thread with an event loop: giving a request up cancels
its task, which closes the connection, also while the server is silent. See
docs/decisions/openai-client.md for what the client does, and what is done around it.

A key goes to the configured host alone: redirects are not followed.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from s2s.system.remote.errors import RemoteError, broken, refused
from s2s.system.remote.reply import Head, Reply, Waiting, Waits
from s2s.system.remote.settings import ServerConfig

if TYPE_CHECKING:
    import openai

log = logging.getLogger(__name__)

PASSING = (425, 429, 502, 503, 504, 529)
"""Statuses of a server that is loading, restarting or busy."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 4.0
"""Between two tries where the server names no time."""
TOLD_EVERY_S = 5.0
"""A sign of life while a server is waited for."""

_OPENAI_HOST = "api.openai.com"
_OPENAI_KEY = "OPENAI_API_KEY"
_OUT_OF_QUOTA = "insufficient_quota"


class Arriving(Protocol):
    """What is used of the client's streamed responses."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def iter_bytes(self) -> AsyncIterator[bytes]: ...


Headers = Mapping[str, "str | openai.Omit"]
Send = Callable[["openai.AsyncOpenAI", Headers], AbstractAsyncContextManager[Arriving, None]]
"""Makes a request of the client with these extra headers: `...with_streaming_response.create`."""


class Remote:
    """A server. Requests from several threads run at once."""

    def __init__(self, config: ServerConfig) -> None:
        """Nothing is sent yet.

        Raises:
            RemoteError: the address is none, or the key's variable is not set.
        """
        importlib.import_module("openai")  # half a second, better spent now than at a question

        self.url = config.base_url.strip().rstrip("/")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RemoteError(
                f"base_url {config.base_url!r} is no address. It looks like "
                "http://127.0.0.1:8080/v1.",
                final=True,
            )
        self._config = config
        self._own_machine = parts.hostname in ("localhost", "127.0.0.1", "::1")
        self._key = _key(config.api_key_env, parts.hostname)
        self._official = parts.hostname == _OPENAI_HOST
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: openai.AsyncOpenAI | None = None
        self._headers: dict[str, str | openai.Omit] = {}

    @property
    def headers(self) -> dict[str, str]:
        """What a request that this client does not make needs: the key, and what is configured."""
        own = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return own | dict(self._config.extra_headers)

    def ask(self, send: Send, waits: Waits, stop: Callable[[], bool] = lambda: False) -> Reply:
        """Send a request and read its answer; close the reply, or leave its `with`, in any case."""
        reply = Reply(self.url, waits, stop)
        reply.start(self._running_loop(), self._exchange(send, reply, waits.busy_s))
        return reply

    def close(self) -> None:
        """End what is under way and close idle connections. Idempotent."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="remote", daemon=True
                )
                self._thread.start()
            return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(self._wind_up())
            loop.close()

    async def _wind_up(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _open_client(self) -> openai.AsyncOpenAI:
        """The client; made in the loop's thread, which alone uses it."""
        import openai

        if self._client is None:
            omit = openai.Omit()
            headers: dict[str, str | openai.Omit] = {}
            if not self._key:
                headers["Authorization"] = omit
            if not self._official:
                headers |= {"OpenAI-Organization": omit, "OpenAI-Project": omit}
            self._headers = headers | dict(self._config.extra_headers)
            self._client = openai.AsyncOpenAI(
                api_key=self._key or "none",
                base_url=self.url,
                max_retries=0,  # they are ours: told of, and ended by `stop`
                timeout=openai.Timeout(None, connect=self._config.connect_timeout_s),
                http_client=openai.DefaultAsyncHttpx2Client(
                    follow_redirects=False, trust_env=not self._own_machine
                ),
            )
        return self._client

    async def _exchange(self, send: Send, reply: Reply, busy_s: float) -> None:
        """Send until an answer comes, and hand it on; every end is put into `reply`."""
        import openai

        loop = asyncio.get_running_loop()
        patience_ends_s = loop.time() + busy_s
        pause_s, told_s, renewed = FIRST_PAUSE_S, 0.0, False
        while True:
            try:
                async with send(self._open_client(), self._headers) as response:
                    await reply.give(Head(response.headers.get("content-type", "").lower()))
                    async for data in response.iter_bytes():
                        await reply.give(data)
                    reply.end(None)
                    return
            except openai.APIStatusError as error:
                failure = refused(
                    str(error.request.url),
                    error.status_code,
                    error.response.content,
                    error.response.headers.get("location", ""),
                )
                wait_s = _retry_after_s(error.response.headers)
                wait_s = pause_s if wait_s is None else wait_s
                passing = error.status_code in PASSING and error.code != _OUT_OF_QUOTA
                if not passing or loop.time() + wait_s > patience_ends_s:
                    reply.end(failure)
                    return
                if loop.time() >= told_s:
                    log.warning(
                        "%s answered %d: %s; waiting", self.url, failure.status, failure.words
                    )
                    told_s = loop.time() + TOLD_EVERY_S
                await reply.give(Waiting(wait_s))
                await asyncio.sleep(wait_s)
                pause_s = min(LONGEST_PAUSE_S, 1.6 * pause_s)
            except openai.APITimeoutError as error:
                reply.end(broken(self.url, error, connected=False))
                return
            except openai.APIConnectionError as error:
                lost = _was_lost(error)
                if lost and not renewed:
                    renewed = True  # the server had closed the idle connection
                    continue
                reply.end(broken(self.url, error, connected=lost))
                return
            except asyncio.CancelledError:
                reply.end(RemoteError(f"{self.url}: the answer was given up."))
                raise
            except (ValueError, TypeError) as error:
                reply.end(RemoteError(f"{self.url}: the request cannot be made ({error})."))
                return
            except Exception as error:  # surfaces in the reader's thread
                log.debug("%s: the answer broke off", self.url, exc_info=error)
                reply.end(broken(self.url, error, connected=True))
                return


def _key(variable: str | None, host: str) -> str:
    """The key that belongs to `host`; "" for none.

    Raises:
        RemoteError: the variable that was asked for is not set.
    """
    if variable is None:
        return os.environ.get(_OPENAI_KEY, "").strip() if host == _OPENAI_HOST else ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise RemoteError(
            f"api_key_env names {variable}, which is not set. Set it to the key.", final=True
        )
    return key


def _was_lost(error: BaseException) -> bool:
    """A connection that was made broke, before anything came over it."""
    return type(error.__cause__).__name__ in ("RemoteProtocolError", "ReadError", "WriteError")


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds after which the server wants to be asked again; None when it does not say."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            return max(0.0, scale * float(value))
        except ValueError:
            pass
        try:
            until = parsedate_to_datetime(value)
        except ValueError:
            continue
        return max(0.0, (until - datetime.now(until.tzinfo)).total_seconds())
    return None
