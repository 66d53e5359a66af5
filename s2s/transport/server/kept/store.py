"""What a place is asked in which several servers keep their clients' conversations.

docs/decisions/conversations-kept-outside.md. Knows no place: there are three of them beside this
module, which all do the same (tests/transport/server/kept/test_stores.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

Written = Literal["kept", "taken", "unknown"]
"""What became of something that was written: `taken`: its client is on another connection, and so
it was not kept; `unknown`: nothing is there that could be kept for longer, write all of it."""


class StoreUnreachable(ConnectionError):
    """The place does not answer. The message says which, and what to do; never with a password."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A client's conversation is held by one connection from now on."""

    epoch: int
    """Of this connection; grows with each one of the same client."""
    previous: int
    """Of the one before it; 0 where nothing is known of any."""
    state: bytes | None
    """What it left, or what was written last while it ran."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The connection that holds a conversation."""

    name: str
    """Of the conversation: see `stored_name`."""
    replica: str
    """On which it is."""
    epoch: int
    """See `Claim`."""


class ConversationStore(Protocol):
    """Keeps conversations of clients, by name. On one event loop alone. Everything of it may raise
    `StoreUnreachable`, within few seconds."""

    async def claim(self, name: str, replica: str, keep_s: float, wait_s: float) -> Claim:
        """A client comes. The newest has it: a connection on another replica is told (`taken`), and
        has `wait_s` to hand over what it has."""
        ...

    async def write(self, holder: Holder, state: bytes | None, keep_s: float) -> Written:
        """Keep `state` in place of what is kept; None: keep that for longer."""
        ...

    async def leave(self, holder: Holder, state: bytes | None, keep_s: float) -> None:
        """The connection has ended and leaves `state`; None: its client was done, and nothing is
        kept. One whose client has come elsewhere meanwhile hands it over."""
        ...

    async def taken(self, replica: str, wait_s: float) -> list[tuple[str, int]]:
        """(name, epoch) of connections of this replica whose clients came elsewhere; waits for
        some, and gives none after `wait_s`."""
        ...

    async def remember(self, name: str, value: bytes, keep_s: float) -> None:
        """Keep a value that all replicas read."""
        ...

    async def recall(self, name: str) -> bytes | None:
        """It; None: it is not there any more."""
        ...

    async def report(self, replica: str, text: str, keep_s: float) -> None:
        """The figures of a replica."""
        ...

    async def reports(self) -> Mapping[str, str]:
        """Those of all, by replica."""
        ...

    async def close(self) -> None:
        """Let go of it. What is kept stays. Idempotent."""
        ...


def stored_name(token: str, key: str) -> str:
    """The name under which the conversation of a client is kept: from it neither its token nor its
    key can be told, and a client with another key has another one."""
    text = f"{len(key)}:{key}{token}"
    return hashlib.sha256(text.encode()).hexdigest()
