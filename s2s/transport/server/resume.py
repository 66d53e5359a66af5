"""Conversations of dropped connections, kept for a while under the token of their client.

docs/decisions/resumption-by-a-token-of-the-client.md. On one event loop alone. Times are of a clock
that is given, so that tests need not wait.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from s2s.transport.server.access import sub_protocols

HEADER = "x-s2s-resume"
PROTOCOL = "s2s-resume."
"""How the entry of the sub-protocol list begins in which a page sends its token: a browser lets it
set no header."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")


def sent_token(headers: Mapping[str, str]) -> str | None:
    """The token that a client sends; None: none.

    Raises:
        ValueError: it is none that is hard to guess.
    """
    token = headers.get(HEADER)
    for entry in sub_protocols(headers):
        if entry.startswith(PROTOCOL):
            token = entry[len(PROTOCOL) :]
    if token is None:
        return None
    if not _TOKEN.fullmatch(token):
        raise ValueError(
            f"A resume token has 16 to 64 of A-Z, a-z, 0-9, - and _; this one has {len(token)} "
            "characters."
        )
    return token


def new_token() -> str:
    """For a client that sent none."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True)
class _Kept:
    state: object
    until_s: float


@dataclass(slots=True)
class _Open:
    """A connection that is there."""

    take_over: Callable[[], None]
    ended: asyncio.Event
    asked_for: bool = False
    """Its client came again and waits for its end."""


@dataclass(frozen=True, slots=True)
class Entered:
    """How a client with a token came in."""

    state: object | None
    """What an earlier connection of it left."""
    took_over: bool
    """An earlier connection was still there: its place among the sessions is this one's now."""


class Resumable:
    """What dropped connections left, by (token, key of the client).

    Args:
        keep_s: how long it is kept.
        most: how many are kept; the oldest go.
        now: seconds of any clock.
    """

    def __init__(self, keep_s: float, most: int, now: Callable[[], float]) -> None:
        self._keep_s = keep_s
        self._most = most
        self._now = now
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._open: dict[tuple[str, str], _Open] = {}

    def __len__(self) -> int:
        self.forget_old()
        return len(self._kept)

    def is_open(self, token: str, key: str) -> bool:
        """A connection of that client is still there."""
        return (token, key) in self._open

    async def enter(self, token: str, key: str, take_over: Callable[[], None]) -> Entered:
        """A client comes with a token.

        A connection of it that is still there is told to end, and waited for.

        Args:
            token: the client's.
            key: what it was let in with: nobody goes on with the conversation of another.
            take_over: ends this connection, should the client come again before it has gone.
        """
        name = (token, key)
        took_over = False
        while (before := self._open.get(name)) is not None:
            took_over = before.asked_for = True
            before.take_over()
            await before.ended.wait()
        self._open[name] = _Open(take_over, asyncio.Event())
        self.forget_old()
        kept = self._kept.pop(name, None)
        return Entered(None if kept is None else kept.state, took_over)

    def leave(self, token: str, key: str, state: object | None) -> bool:
        """Its connection has ended and left `state`. True: its client has come again, and takes
        its place."""
        name = (token, key)
        opened = self._open.pop(name)
        opened.ended.set()
        self.forget_old()
        if state is not None and (self._keep_s > 0 or opened.asked_for):
            self._kept[name] = _Kept(state, self._now() + max(self._keep_s, 1.0))
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return opened.asked_for

    def forget_old(self) -> None:
        """Drop what was kept long enough."""
        now_s = self._now()
        self._kept = {name: kept for name, kept in self._kept.items() if kept.until_s > now_s}
