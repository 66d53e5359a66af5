"""A WebSocket to a server, by the package `websockets`: read by one thread, which can be told at
any moment that nothing more is wanted, also while the socket is being opened.

A thread of its own opens the socket and reads it. `break_off` ends the connection at once, without
the exchange of farewells: for servers that notice nothing else.
"""

from __future__ import annotations

import importlib.util
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from s2s.core.channel import Channel, Closed, Timeout
from s2s.core.clock import SystemClock
from s2s.core.stop import StopSignal
from s2s.system.remote.errors import RemoteError, broken, refused, stalled
from s2s.system.remote.reply import STOP_ASKED_EVERY_S

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

log = logging.getLogger(__name__)

OPEN_S = 5.0
"""A server that does not take the socket within this time is not there."""
FAREWELL_S = 1.0
PING_S = 10.0
"""A line that is dead without a word is noticed within twice this time."""
MOST_BYTES = 4 << 20
"""Of one message."""
_WAITING = 1024
"""Messages that wait to be read; then the server is made to wait."""
_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


@dataclass(frozen=True, slots=True)
class SocketMessage:
    """What came, and when, by the system's clock."""

    data: str | bytes
    arrived_s: float


class _Opened:
    """The socket is open."""


class _Wake:
    """`stop` may answer otherwise now."""


_Item = SocketMessage | _Opened | _Wake


def socket_address(text: str, path: str, port: int | None = None) -> str:
    """Where to open a socket: `kitchen`, `http://kitchen:8765`, `ws://kitchen:8765/v1` and the
    whole address are the same. port: where none is named.

    Raises RemoteError for what is no address.
    """
    given = text.strip()
    parts = urlsplit(given if "://" in given else f"ws://{given}")
    try:
        named = parts.port
    except ValueError:
        raise RemoteError(f"{text!r} has no valid port", final=True) from None
    if parts.scheme not in _SCHEMES or not parts.hostname or parts.username or parts.password:
        raise RemoteError(
            f"{text!r} is no address of a server: write ws://HOST:PORT or wss://HOST", final=True
        )
    scheme = _SCHEMES[parts.scheme]
    if named is None and scheme == "ws":
        named = port
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if named is None else f"{host}:{named}"
    given_path = parts.path.rstrip("/")
    whole = path if given_path in ("", "/v1") else given_path
    return urlunsplit((scheme, place, whole, parts.query, ""))


class ServerWebSocket:
    """One socket. It is being opened once it is made; used by one thread, closed by any.

    Args:
        url: of `socket_address`.
        headers: sent with the request for it.

    Raises RemoteError where the package is not installed.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        if importlib.util.find_spec("websockets") is None:
            raise RemoteError(
                f"{url} needs the package websockets: pip install 's2s[remote]'", final=True
            )
        self.url = url
        self._headers = dict(headers)
        self._clock = SystemClock()
        self._arrived: Channel[_Item] = Channel(_WAITING, clock=self._clock, name="socket")
        self._lock = threading.Lock()
        self._connection: ClientConnection | None = None
        self._is_open = self._closed = False
        self._failure: RemoteError | None = None
        self._thread = threading.Thread(target=self._run, name="socket", daemon=True)
        self._thread.start()

    def open(self, stop: Callable[[], bool]) -> bool:
        """Wait until it is open, if it is not yet; False when `stop` says so before.

        Raises RemoteError when it cannot be opened.
        """
        self._is_open = self._is_open or self._next(stop, OPEN_S) is not None
        return self._is_open

    def send(self, message: str | bytes) -> None:
        """Send a message; the socket is open. Raises RemoteError when it is lost."""
        connection = self._connection
        try:
            if connection is not None:
                connection.send(message)
                return
        except Exception as error:
            raise self._failure or broken(self.url, error, connected=True) from error
        raise RemoteError(f"{self.url} is not open")

    def receive(self, stop: Callable[[], bool], most_s: float) -> SocketMessage | None:
        """The next message; None when `stop` says so before it comes.

        Raises RemoteError when the socket is lost, or nothing comes for so long.
        """
        item = self._next(stop, most_s)
        return item if isinstance(item, SocketMessage) else None

    @property
    def lost(self) -> bool:
        """The server has ended it, or the line broke."""
        return self._arrived.closed

    def close(self) -> None:
        """Say farewell and end it. Idempotent."""
        connection = self._end()
        if connection is not None:  # else it is still being opened, and ends by itself
            with suppress(Exception):  # whatever state it is in, it is over
                connection.close()
            self._thread.join()

    def break_off(self) -> None:
        """End it at once. Idempotent."""
        connection = self._end()
        if connection is not None:
            with suppress(OSError):
                connection.socket.shutdown(socket.SHUT_RDWR)
            self._thread.join()

    def _end(self) -> ClientConnection | None:
        with self._lock:
            self._closed = True
            connection = self._connection
        self._arrived.close(discard=True)
        return connection

    def _next(self, stop: Callable[[], bool], most_s: float) -> _Item | None:
        due_s = self._clock.now() + most_s
        signals = isinstance(stop, StopSignal)
        forget = stop.listen(self._wake) if isinstance(stop, StopSignal) else _nothing
        try:
            while not stop():
                asks_s = due_s if signals else min(due_s, self._clock.now() + STOP_ASKED_EVERY_S)
                try:
                    item = self._arrived.get(deadline_s=asks_s)
                except Timeout:
                    if self._clock.now() >= due_s:
                        raise stalled(self.url, most_s) from None
                    continue
                except Closed:
                    raise self._failure or RemoteError(f"{self.url} was closed") from None
                if not isinstance(item, _Wake):
                    return item
            return None
        finally:
            forget()

    def _wake(self) -> None:
        self._arrived.offer(_Wake())

    def _run(self) -> None:
        """Open it and read it; in its thread."""
        opened = False
        try:
            connection = self._connect()
            with self._lock:
                self._connection, ended = connection, self._closed
            try:
                if ended:
                    return
                opened = True
                self._arrived.put(_Opened())
                for message in connection:
                    self._arrived.put(SocketMessage(message, self._clock.now()))
                self._failure = RemoteError(
                    f"{self.url} closed the socket ({connection.close_code or 'no code'}"
                    f"{': ' + connection.close_reason if connection.close_reason else ''})"
                )
            finally:
                connection.close()
        except Closed:
            pass  # nothing more is wanted
        except Exception as error:  # surfaces in the reader's thread
            log.debug("%s: the socket broke off", self.url, exc_info=error)
            self._failure = self._told(error, opened=opened)
        finally:
            self._arrived.close()

    def _connect(self) -> ClientConnection:
        from websockets.sync.client import connect

        return connect(
            self.url,
            additional_headers=self._headers,
            compression=None,
            open_timeout=OPEN_S,
            close_timeout=FAREWELL_S,
            ping_interval=PING_S,
            ping_timeout=PING_S,
            max_size=MOST_BYTES,
            proxy=None,
        ).__enter__()

    def _told(self, error: Exception, *, opened: bool) -> RemoteError:
        """What went wrong, in words."""
        from websockets.exceptions import InvalidStatus

        if isinstance(error, RemoteError):
            return error
        if isinstance(error, InvalidStatus):
            answer = error.response
            return refused(self.url, answer.status_code, bytes(answer.body or b""), "")
        if isinstance(error, ssl.SSLError):
            return RemoteError(f"{self.url}: TLS failed ({error.reason or error})", final=True)
        return broken(self.url, error, connected=opened)


def _nothing() -> None:
    """There is nothing to end."""
