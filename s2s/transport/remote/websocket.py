"""The WebSocket to a Realtime server, by the package `websockets`; and why there is none, in words.

A certificate that the server made itself is accepted by its fingerprint alone.
"""

from __future__ import annotations

import hashlib
import json
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from s2s.core.untyped import is_object
from s2s.transport.remote.address import LinkError, LinkLost

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

OPEN_S = 10.0
"""A server that does not take the socket within this time is not there."""
CLOSE_S = 1.0
PING_S = 10.0
"""A line that is dead without a word is noticed within twice this time."""
MAX_BYTES = 32 * 2**20
RESUME = "X-S2S-Resume"


class RemoteSocket(Protocol):
    """Texts to a server and back. Each side may be used by a thread of its own."""

    def send(self, text: str) -> None:
        """Send one text.

        Raises:
            LinkLost: the socket is gone.
        """
        ...

    def receive(self) -> str:
        """Wait for the next text.

        Raises:
            LinkLost: the socket is gone.
            LinkError: the server ended the conversation for good.
        """
        ...

    def close(self) -> None:
        """Go. Who waits in `receive` gets `LinkLost`. Safe from any thread; idempotent."""
        ...


class WebSocket:
    """A `RemoteSocket` over the network."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        with suppress(OSError, AttributeError):  # where the system has it: Linux
            connection.socket.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(2000 * PING_S)
            )

    def send(self, text: str) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            with self._sending:
                self._connection.send(text)
        except (ConnectionClosed, OSError) as error:
            raise LinkLost("the server has gone") from error

    def receive(self) -> str:
        from websockets.exceptions import ConnectionClosed

        try:
            text = self._connection.recv()
        except ConnectionClosed as error:
            close = error.rcvd
            if close is not None and close.code in FOR_GOOD:
                raise LinkError(FOR_GOOD[close.code].format(close.reason or "no reason")) from error
            raise LinkLost("the server has gone") from error
        return text if isinstance(text, str) else text.decode(errors="replace")

    def close(self) -> None:
        if self._sending.acquire(timeout=CLOSE_S):
            self._sending.release()
            self._connection.close()
        else:  # the line is dead under a thread that sends
            self.break_off()

    def break_off(self) -> None:
        """End it without a word, as a line that breaks: the server keeps the conversation."""
        with suppress(OSError):
            self._connection.socket.shutdown(socket.SHUT_RDWR)


FOR_GOOD: Mapping[int, str] = {
    1008: "the server ended the conversation: {}",
    4001: "this conversation goes on elsewhere",
}
"""Codes with which a server closes a socket for good."""


def open_websocket(
    address: str, *, key: str = "", resume: str = "", fingerprint: str = ""
) -> WebSocket:
    """Open a socket to the server at `address` (of `realtime_address`).

    Args:
        key: the API key; "" for none.
        resume: by this the server knows the conversation again after the socket was lost.
        fingerprint: SHA-256 of the certificate that is trusted, in hexadecimal digits with or
            without colons; "": one of a known authority.

    Raises:
        LinkLost: nothing answers there, or it is full.
        LinkError: it can never work as it was asked for.
    """
    try:
        from websockets.sync.client import connect
    except ImportError as error:
        raise LinkError(
            "talk --url needs the package websockets: pip install 's2s[remote]'"
        ) from error
    from websockets.exceptions import InvalidHandshake, InvalidStatus

    place = urlsplit(address).netloc
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if resume:
        headers[RESUME] = resume
    try:
        opening = connect(
            address,
            ssl=_tls(fingerprint) if address.startswith("wss:") else None,
            additional_headers=headers,
            subprotocols=None,
            compression=None,
            open_timeout=OPEN_S,
            close_timeout=CLOSE_S,
            ping_interval=PING_S,
            ping_timeout=PING_S,
            max_size=MAX_BYTES,
            proxy=None,
        )
        # left by `close`: entered, it is the connection in every version of the package
        connection = opening.__enter__()
    except InvalidStatus as error:
        raise _refused(
            place, error.response.status_code, bytes(error.response.body or b"")
        ) from error
    except (InvalidHandshake, EOFError) as error:
        raise LinkError(f"what answers at {place} is no Realtime server ({error})") from error
    except ssl.SSLCertVerificationError as error:
        raise LinkError(_untrusted(address, error)) from error
    except ssl.SSLError as error:
        raise LinkError(
            f"{place} does not speak TLS ({error.reason or error}): is it ws:// rather than wss://?"
        ) from error
    except TimeoutError as error:
        raise LinkLost(f"{place} did not answer within {OPEN_S:.0f} s") from error
    except OSError as error:
        raise LinkLost(_unreachable(place, error)) from error
    if fingerprint:
        _check_fingerprint(connection, fingerprint)
    return WebSocket(connection)


def _tls(fingerprint: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if fingerprint:  # the certificate itself is compared, before anything is sent over it but this
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _check_fingerprint(connection: ClientConnection, fingerprint: str) -> None:
    found = ""
    if isinstance(connection.socket, ssl.SSLSocket):
        found = hashlib.sha256(connection.socket.getpeercert(binary_form=True) or b"").hexdigest()
    if found != fingerprint.replace(":", "").strip().lower():
        connection.close()
        raise LinkError(
            f"the server's certificate has the fingerprint {_with_colons(found)}, not the one"
            " given: somebody may stand in between, or it made itself a new certificate"
        )


def _with_colons(digits: str) -> str:
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2)).upper() or "none"


def _untrusted(address: str, error: ssl.SSLCertVerificationError) -> str:
    """That a certificate is not trusted, and by which fingerprint it could be."""
    parts = urlsplit(address)
    why = f"the certificate of {parts.netloc} is not trusted ({error.verify_message})"
    try:
        text = ssl.get_server_certificate((parts.hostname or "", parts.port or 443))
    except OSError:
        return why
    found = hashlib.sha256(ssl.PEM_cert_to_DER_cert(text)).hexdigest()
    return (
        f"{why}. If the server shows this fingerprint as its own, add "
        f"--fingerprint {_with_colons(found)}"
    )


def _unreachable(place: str, error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return f"no machine is called {place.rpartition(':')[0] or place}: check the address"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens at {place}: start a server there with `python -m s2s serve`"
    return f"{place} cannot be reached ({error.strerror or error})"


def _refused(place: str, status: int, body: bytes) -> LinkError:
    """What a server's answer to the request for a socket means."""
    message = _told(body)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return LinkError(
            f"{place} does not accept the key{message}: give it by --api-key or S2S_API_KEY"
        )
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return LinkLost(f"{place} has no free place{message}: try again later")
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return LinkLost(f"{place} cannot serve now (HTTP {status}{message})")
    if status < HTTPStatus.BAD_REQUEST or status == HTTPStatus.NOT_FOUND:
        return LinkError(
            f"what answers at {place} is no Realtime server (HTTP {status}): check the address"
        )
    return LinkError(f"{place} refuses the conversation (HTTP {status}{message})")


def _told(body: bytes) -> str:
    """The message of an error's JSON body, as an insertion; "" when there is none."""
    try:
        found: object = json.loads(body)
    except ValueError:
        return ""
    error = found.get("error") if is_object(found) else None
    message = error.get("message") if is_object(error) else None
    return f" ({message})" if isinstance(message, str) and message else ""
