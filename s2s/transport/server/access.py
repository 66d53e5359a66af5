"""Who may come in: the key, the page that asks, and the name the server is asked under.

A browser lets any web page talk to a server of this machine. A page tells its own address in the
header Origin, so that is looked at wherever it is sent. What it cannot change is the name that it
asks for, in the header Host: a stranger's name that was made to point here (DNS rebinding) is not
one of this machine's, and without a key only those are answered.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from s2s.transport.server.config import ServeConfig
from s2s.transport.server.reply import ApiError

KEY_PROTOCOL = "openai-insecure-api-key."
"""How the entry of the sub-protocol list begins in which a browser sends its key."""


def is_loopback(host: str) -> bool:
    """An address to listen on that nobody but this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def sub_protocols(headers: Mapping[str, str]) -> list[str]:
    """The sub-protocols that a client offers, in its order."""
    offered = headers.get("sec-websocket-protocol", "")
    return [entry.strip() for entry in offered.split(",") if entry.strip()]


def sent_key(headers: Mapping[str, str]) -> str | None:
    """The key that a client sends, in a header or among its sub-protocols; None: none."""
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and value.strip():
        return value.strip()
    if (plain := headers.get("x-api-key") or headers.get("api-key")) is not None:
        return plain.strip()
    for entry in sub_protocols(headers):
        if entry.startswith(KEY_PROTOCOL):
            return entry[len(KEY_PROTOCOL) :]
    return None


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that tells nothing about them."""
    digests = [hashlib.sha256(text.encode()).digest() for text in (one, other)]
    return hmac.compare_digest(*digests)


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of one server."""

    key: str | None
    """What clients must send; None: nothing."""
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: ServeConfig, key: str | None) -> Access:
        """As configured.

        Raises:
            ValueError: other machines could come in without a key, and that was not asked for.
        """
        if key is None and not config.insecure and not is_loopback(config.host):
            raise ValueError(
                f"listening on {config.host} lets other machines in: set a key that they must send "
                f"(--api-key KEY, or the environment variable {config.api_key_env}), or say "
                "--insecure to serve them without."
            )
        return cls(key, config.origins, (*config.hosts, config.host))

    def check(self, headers: Mapping[str, str], *, needs_key: bool = True) -> None:
        """Let a request in.

        Args:
            headers: of the request, by names in lower case.
            needs_key: what is asked for is not for everybody.

        Raises:
            ApiError: it is not let in.
        """
        self.check_origin(headers)
        if needs_key:
            self.check_key(sent_key(headers))

    def check_key(self, sent: str | None) -> None:
        """
        Raises:
            ApiError: it is not the key.
        """
        if self.key is None:
            return
        if sent is None:
            raise ApiError(
                401, "missing_api_key", "Send the key of this server: Authorization: Bearer KEY."
            )
        if not same(sent, self.key):
            raise ApiError(401, "invalid_api_key", "That is not the key of this server.")

    def check_origin(self, headers: Mapping[str, str]) -> None:
        """
        Raises:
            ApiError: the page that asks is another's, or the server is asked under another's name.
        """
        host = headers.get("host", "")
        if self.key is None and not self._is_ours(host):
            raise ApiError(
                403,
                "host_not_allowed",
                f"This server is asked under the name {host[:100]!r}, which is none of its own. "
                "Use its address, name it in serve.hosts, or set a key.",
            )
        origin = headers.get("origin")
        if origin is None or "*" in self.origins or origin in self.origins:
            return
        if urlsplit(origin).netloc != host or not host:
            raise ApiError(
                403,
                "origin_not_allowed",
                f"Pages of {origin[:100]!r} may not use this server. Name it in serve.origins to "
                "let them.",
            )

    def _is_ours(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in own_names() or name in self.hosts or "*" in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def own_names() -> Sequence[str]:
    """What this machine is called in its network."""
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return ("localhost", name, short, f"{short}.local")
