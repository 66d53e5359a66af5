"""Whether what is fetched can be: the hub and the package index are asked for a connection."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from s2s.app.doctor.report import Finding
from s2s.models.fetch import offline

WAIT_S = 2.0
HUB = "https://huggingface.co"

Connect = Callable[[str, int], None]
"""Opens a connection to a host and port, and closes it; an OSError says why not."""


def network(connect: Connect | None = None) -> Finding:
    """Whether the hub that models come from can be reached, where that is wanted."""
    hub = os.environ.get("HF_ENDPOINT") or HUB
    if offline():
        return Finding(
            "ok",
            "network: not asked, HF_HUB_OFFLINE forbids it",
            area="network",
            values={"hub": hub, "reachable": None, "offline": True},
        )
    parts = urlsplit(hub)
    host, port = parts.hostname or hub, parts.port or (80 if parts.scheme == "http" else 443)
    try:
        (connect or _connect)(host, port)
    except OSError as error:
        return Finding(
            "warning",
            f"network: {host} does not answer ({error})",
            "what is on this machine works without; to fetch more, check the connection, a proxy "
            "(https_proxy), or name another hub with HF_ENDPOINT",
            "network",
            {"hub": hub, "reachable": False, "offline": False},
        )
    return Finding(
        "ok", f"network: {host} answers", "", "network",
        {"hub": hub, "reachable": True, "offline": False},
    )  # fmt: skip


def _connect(host: str, port: int) -> None:
    with socket.create_connection((host, port), WAIT_S):
        pass
