"""Ports that a server of a test keeps, also while nothing listens at them."""

from __future__ import annotations

import itertools
import os
import socket

FIRST, COUNT = 20_000, 12_000
"""Below those that systems give to whoever asks for any port: from 32,768 on Linux, 49,152 on macOS
and Windows. Other tests that run meanwhile, here or in another process, take none of these."""
STRIDE = 7919
"""Between the first ports of two processes with neighbouring numbers. Prime to the count."""

_asked = itertools.count()


def kept_port() -> int:
    """A free port of 127.0.0.1 that nobody gets who does not ask for it by its number.

    Raises:
        RuntimeError: none is free.
    """
    for _ in range(COUNT):
        port = FIRST + (os.getpid() * STRIDE + next(_asked)) % COUNT
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError(f"no port from {FIRST} to {FIRST + COUNT - 1} is free")
