"""Streaming requests to an HTTP server that can be given up at any moment, also while it is silent.

Knows nothing about speech or language models. A key goes to the configured host alone: redirects
are not followed.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s.core.clock import SystemClock

if TYPE_CHECKING:
    import httpx

_STOP_ASKED_EVERY_S = 0.05
_ERROR_BODY_CHARS = 300
_OPENAI_HOST = "api.openai.com"
_OPENAI_KEY = "OPENAI_API_KEY"


class RemoteError(RuntimeError):
    """The server could not be used. The message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server and how long to wait for it."""

    base_url: str
    api_key_env: str | None
    """Environment variable with the key; None: OPENAI_API_KEY for api.openai.com, else no key."""
    connect_timeout_s: float
    first_timeout_s: float
    """Longest wait between the request and the first byte of the answer."""
    gap_timeout_s: float
    """Longest wait between two pieces of the answer."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to post: either `json`, or a form of `fields` and `files`."""

    path: str
    """Below the base address, `/chat/completions`."""
    json: Mapping[str, object] | None = None
    fields: Mapping[str, str] | None = None
    files: Mapping[str, tuple[str, bytes, str]] | None = None
    """Name to (file name, content, media type)."""


class Remote:
    """A server. Requests from several threads run at once, each on a connection of its own."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Nothing is sent yet.

        Raises:
            RemoteError: the address is none, or the key's variable is not set.
        """
        import httpx

        self._endpoint = endpoint
        self._base_url = endpoint.base_url.strip().rstrip("/")
        try:
            host = httpx.URL(self._base_url).host
        except httpx.InvalidURL:
            host = ""
        if not host or not self._base_url.startswith(("http://", "https://")):
            raise RemoteError(
                f"base_url {endpoint.base_url!r} is no address. It looks like "
                "http://127.0.0.1:8080/v1."
            )
        self._own_machine = host in ("localhost", "127.0.0.1", "::1")
        self._headers = _key_header(endpoint.api_key_env, host)
        self._lock = threading.Lock()
        self._idle: list[_Line] = []
        self._closed = False

    def stream(
        self, request: Request, stop: Callable[[], bool] = lambda: False
    ) -> Generator[bytes, None, None]:
        """Post `request` and yield the bytes of the answer as they arrive.

        A thread of its own reads the connection. `stop` is asked every 50 ms; when it is true, or
        the iterator is closed, the connection is closed and the server may give up its work.

        Raises:
            RemoteError: refused, timed out, cut, or answered with an error.
        """
        exchange = _Exchange(self, request)
        endpoint = self._endpoint
        url = self._base_url + request.path
        wait_s, waited_s = endpoint.first_timeout_s, 0.0
        threading.Thread(target=exchange.run, name="remote", daemon=True).start()
        try:
            while not stop():
                try:
                    item = exchange.arrived.get(timeout=_STOP_ASKED_EVERY_S)
                except queue.Empty:
                    waited_s += _STOP_ASKED_EVERY_S
                    if waited_s >= wait_s:
                        raise stalled(url, wait_s) from None
                    continue
                if item is None:
                    return
                if isinstance(item, RemoteError):
                    raise item
                yield item
                wait_s, waited_s = endpoint.gap_timeout_s, 0.0
        finally:
            exchange.give_up()

    def close(self) -> None:
        """Close idle connections. Idempotent."""
        with self._lock:
            self._closed = True
            lines, self._idle = self._idle, []
        for line in lines:
            line.client.close()

    def take_line(self) -> _Line:
        """A connection that is free, or a new one."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        endpoint = self._endpoint
        longest_s = max(endpoint.first_timeout_s, endpoint.gap_timeout_s)
        return _Line(
            self._base_url, self._headers, endpoint.connect_timeout_s, longest_s, self._own_machine
        )

    def give_line(self, line: _Line) -> None:
        """Keep a connection whose answer was read to its end for the next request."""
        with self._lock:
            if not self._closed:
                line.used = True
                self._idle.append(line)
                return
        line.client.close()


class _Line:
    """A client with one connection, whose socket is known so that it can be shut down."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        connect_timeout_s: float,
        read_timeout_s: float,
        own_machine: bool,
    ) -> None:
        import httpx

        self.used = False
        self._socket: socket.socket | None = None
        self.client = httpx.Client(
            base_url=base_url,
            headers=dict(headers),
            timeout=httpx.Timeout(read_timeout_s, connect=connect_timeout_s),
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            follow_redirects=False,
            trust_env=not own_machine,
        )

    def post(self, request: Request) -> contextlib.AbstractContextManager[httpx.Response]:
        """Send `request`; the answer's body is read by the caller."""
        return self.client.stream(
            "POST",
            request.path,
            json=request.json,
            data=request.fields,
            files=request.files,
            extensions={"trace": self._trace},
        )

    def hang_up(self) -> None:
        """End a read that is under way in another thread."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _trace(self, event: str, info: Mapping[str, object]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            stream = info["return_value"]
            self._socket = stream.get_extra_info("socket")  # pyright: ignore[reportAttributeAccessIssue]


class _Exchange:
    """One request and its answer, read by a thread."""

    def __init__(self, remote: Remote, request: Request) -> None:
        self._remote = remote
        self._request = request
        self._lock = threading.Lock()
        self._line: _Line | None = None
        self._given_up = False
        self.arrived: queue.SimpleQueue[bytes | RemoteError | None] = queue.SimpleQueue()

    def give_up(self) -> None:
        """Close the connection; the thread ends. No effect after the end of the answer."""
        with self._lock:
            self._given_up = True
            if self._line is not None:
                self._line.hang_up()

    def run(self) -> None:
        """Read the answer into `arrived`: bytes, then None or an error."""
        import httpx

        while True:
            line = self._remote.take_line()
            with self._lock:
                self._line = line
                given_up = self._given_up
            done: RemoteError | None = None
            began = whole = False
            try:
                if not given_up:
                    with line.post(self._request) as response:
                        began = True
                        self._read(response)
                whole = not given_up and not self._given_up
            except RemoteError as error:
                done = error
            except (httpx.HTTPError, httpx.StreamError, OSError, RuntimeError) as error:
                if line.used and not began and isinstance(error, httpx.RemoteProtocolError):
                    line.client.close()  # the server had closed the idle connection
                    continue
                done = _broken(str(line.client.base_url), error)
            with self._lock:
                self._line = None
            if whole:
                self._remote.give_line(line)
            else:
                line.client.close()
            self.arrived.put(done)
            return

    def _read(self, response: httpx.Response) -> None:
        if response.status_code != 200:
            response.read()
            raise _refused(response)
        for data in response.iter_bytes():
            if self._given_up:
                return
            if data:
                self.arrived.put(data)


def lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """The complete lines in a stream of bytes, and what follows the last one."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", errors="replace").rstrip("\r")
    if rest:
        yield rest.decode("utf-8", errors="replace").rstrip("\r")


class Deadline:
    """A moment from now."""

    def __init__(self, wait_s: float) -> None:
        self.wait_s = wait_s
        self._clock = SystemClock()
        self._at_s = self._clock.now() + wait_s

    @property
    def passed(self) -> bool:
        return self._clock.now() > self._at_s


def stalled(url: str, wait_s: float) -> RemoteError:
    """The error for a server that is silent."""
    return RemoteError(
        f"{url}: no answer for {wait_s:g} s. The server is overloaded or still loading: try again, "
        "use a smaller model, or raise the timeout."
    )


def _key_header(variable: str | None, host: str) -> dict[str, str]:
    """The Authorization header, if a key belongs to `host`.

    Raises:
        RemoteError: the variable that was asked for is not set.
    """
    if variable is None:
        key = os.environ.get(_OPENAI_KEY, "").strip() if host == _OPENAI_HOST else ""
    else:
        key = os.environ.get(variable, "").strip()
        if not key:
            raise RemoteError(f"api_key_env names {variable}, which is not set. Set it to the key.")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _refused(response: httpx.Response) -> RemoteError:
    """What an HTTP status means, and what to do."""
    status = response.status_code
    what_to_do = {
        401: "Set the key: api_key_env names the variable that holds it.",
        403: "The key may not do this.",
        404: "Check base_url and the model's name.",
        413: "The request is too long for the server.",
        429: "Too many requests: wait, or use another server.",
    }.get(status, "Look at the server's log." if status >= 500 else "Check the options.")
    if response.is_redirect:
        what_to_do = f"Set base_url to where it points: {response.headers.get('location', '')}"
    body = response.text.strip()[:_ERROR_BODY_CHARS]
    return RemoteError(f"{response.url} answered {status}: {body or 'nothing'}. {what_to_do}")


def _broken(url: str, error: Exception) -> RemoteError:
    """What a failed connection means, and what to do."""
    import httpx

    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return RemoteError(
            f"{url} cannot be reached ({error or 'timed out'}). Is the server running? "
            "Check base_url and the network."
        )
    if isinstance(error, httpx.TimeoutException):
        return RemoteError(f"{url} stopped answering. Try again, or raise the timeout.")
    return RemoteError(
        f"{url} closed the connection in the middle of the answer ({error}). Look at its log; "
        "it may have run out of memory."
    )
