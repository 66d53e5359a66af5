"""The end of a server that loses no answer: what is being said is said to its end, then each client
is told to come again. On one event loop alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

COME_AGAIN = 1012
"""Close code of a server that ends: RFC 6455's registry calls it "service restart"."""
LOOK_S = 0.1
"""Between two looks whether an answer has ended."""


class Closing(Protocol):
    """What is closed of a connection."""

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Idempotent."""
        ...


class Quiet(Protocol):
    """What is asked of a session."""

    @property
    def quiet(self) -> bool:
        """The person is silent, nothing is being answered, nothing is believed to play."""
        ...


@dataclass(slots=True, eq=False)
class OpenConnection:
    """A connection, and the session behind it once there is one."""

    socket: Closing
    session: Quiet | None = None
    told: bool = False
    """It is being closed."""

    @property
    def quiet(self) -> bool:
        """Nobody loses a word where it is closed now."""
        return self.session is None or self.session.quiet


class OpenConnections:
    """The connections of a server.

    Args:
        now: seconds of any clock.
        pause: waits for so many seconds.
    """

    def __init__(
        self,
        now: Callable[[], float] | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._now = now
        self._pause = pause
        self._open: set[OpenConnection] = set()

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def held(self, socket: Closing) -> Generator[OpenConnection]:
        """Inside a connection is open."""
        connection = OpenConnection(socket)
        self._open.add(connection)
        try:
            yield connection
        finally:
            self._open.discard(connection)

    async def drain(self, within_s: float) -> int:
        """Close each connection once it is quiet, and after `within_s` the others too; returns when
        none is left. How many were not quiet by then."""
        now = self._now or asyncio.get_running_loop().time
        until_s = now() + within_s
        late = 0
        ending: list[asyncio.Task[None]] = []
        while self._open:
            over = now() >= until_s
            for each in self._open:
                if not each.told and ((quiet := each.quiet) or over):
                    late += not quiet
                    each.told = True
                    ending.append(asyncio.create_task(_close(each)))
            await self._pause(LOOK_S)
        await asyncio.gather(*ending)
        return late


async def _close(connection: OpenConnection) -> None:
    with suppress(ConnectionError, RuntimeError):
        await connection.socket.close(COME_AGAIN, "this server ends: come again, to another")
