"""Where a Realtime server is: what a person writes, and what a socket is opened to."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

PATH = "/v1/realtime"
DEFAULT_PORT = 8765
_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


class LinkError(RuntimeError):
    """There is no conversation with the server. The message says why, and what to do."""


class LinkLost(LinkError):
    """The server is not there, has gone, or is full: it may be there again."""


def realtime_address(text: str) -> str:
    """The address of the socket: `kitchen`, `kitchen:8765`, `http://kitchen:8765/v1` and
    `ws://kitchen:8765/v1/realtime` are the same. A query is kept.

    Raises:
        LinkError: it is no address.
    """
    given = text.strip()
    parts = urlsplit(given if "://" in given else f"ws://{given}")
    try:
        port = parts.port
    except ValueError as error:
        raise LinkError(
            f"'{text}' has no valid port: give it as ws://host:{DEFAULT_PORT}"
        ) from error
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise LinkError(
            f"'{text}' is no address of a server: give it as ws://host:{DEFAULT_PORT}, or wss://"
        )
    if parts.username or parts.password:
        raise LinkError("a key does not belong in the address: give it by --api-key or S2S_API_KEY")
    path = parts.path.rstrip("/")
    if path in ("", "/v1"):
        path = PATH
    scheme = _SCHEMES[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if port is None and scheme == "ws":
        port = DEFAULT_PORT
    place = host if port is None else f"{host}:{port}"
    return urlunsplit((scheme, place, path, parts.query, ""))
