"""Writes what a connection has to a place outside, beside everything else that it does.

What is written is what there is when its turn comes: while a writing is under way any number of
changes become the next one. On one event loop alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from s2s.transport.server.kept.store import (
    ConversationStore,
    Holder,
    StoreUnreachable,
    Written,
)
from s2s.transport.server.kept.written import TooLong, to_bytes

log = logging.getLogger(__name__)

Snapshot = Callable[[], Mapping[str, object]]
"""Gives a conversation as plain values of JSON, as it is then."""


@dataclass(frozen=True, slots=True)
class WritingPace:
    """How often something is written."""

    between_s: float = 0.5
    """Between two writings of one conversation: so much of it a lost replica may lose."""
    refresh_s: float = 30.0
    """A conversation in which nothing happens is kept for longer so often."""
    report_s: float = 5.0
    """Between two reports of a replica's figures."""
    retry_s: float = 5.0
    """Between two tries of a place that does not answer."""
    hand_over_s: float = 0.5
    """What a connection whose client came elsewhere has to hand over."""
    at_once: int = 16
    """Writings of a replica that are under way at a time."""
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits for so many seconds."""


@dataclass(frozen=True, slots=True)
class KeptBy:
    """What the writers of one replica share."""

    store: ConversationStore
    pace: WritingPace
    keep_s: float
    """How long a conversation is kept after the last sign of its replica."""
    after_s: float
    """How long after its connection has ended."""
    at_once: asyncio.Semaphore
    troubled: Callable[[StoreUnreachable | None], None]
    """Told of every failure, and with None of what went well."""


class KeptWriter:
    """Of one connection.

    Args:
        shared: what all of the replica's share.
        name, replica: of the conversation, and where it is.
        take_over: ends the connection: its client came elsewhere.
    """

    def __init__(
        self, shared: KeptBy, name: str, replica: str, take_over: Callable[[], None]
    ) -> None:
        self._shared = shared
        self._name = name
        self._replica = replica
        self.take_over = take_over
        self.holder: Holder | None = None
        """None while the place has not been told of this connection."""
        self._snapshot: Snapshot | None = None
        self._some = asyncio.Event()
        self._changed = False
        """There is more than was written."""
        self._over = False
        """Nothing is written any more."""
        self._task: asyncio.Task[None] | None = None

    @property
    def epoch(self) -> int:
        """Of its claim; 0: it has none."""
        return 0 if self.holder is None else self.holder.epoch

    def changed(self, snapshot: Snapshot) -> None:
        """There is something new; `snapshot` gives it, and stays valid."""
        self._snapshot = snapshot
        self._changed = True
        self.wake()

    def wake(self) -> None:
        """Write what is new, or say that what was written is to be kept."""
        if self._over or self._snapshot is None:
            return
        self._some.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    async def end(self, *, keeps: bool) -> None:
        """The connection has ended; `keeps`: its client may come back."""
        running = self._task
        self._over = True
        if running is not None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        if self.holder is None:
            return
        state = self._bytes() if keeps else None
        store, after_s = self._shared.store, self._shared.after_s
        try:
            if keeps and state is None:  # what is kept of it already stays
                await store.write(self.holder, None, after_s)
            else:
                await store.leave(self.holder, state, after_s)
        except StoreUnreachable as error:
            self._shared.troubled(error)

    async def _run(self) -> None:
        while not self._over:
            await self._some.wait()
            self._some.clear()
            try:
                async with self._shared.at_once:
                    await self._write()
            except StoreUnreachable as error:
                self._changed = True
                self._shared.troubled(error)
                await self._shared.pace.pause(self._shared.pace.retry_s)
                self._some.set()
            else:
                self._shared.troubled(None)
                await self._shared.pace.pause(self._shared.pace.between_s)

    async def _write(self) -> None:
        if self.holder is None and not await self._claim():
            return
        assert self.holder is not None
        whole, self._changed = self._changed, False
        state = self._bytes() if whole else None
        if whole and state is None:
            return
        became = await self._shared.store.write(self.holder, state, self._shared.keep_s)
        self._became(became)

    def _became(self, became: Written) -> None:
        match became:
            case "kept":
                pass
            case "unknown":
                self._changed = True
                self._some.set()
            case "taken":
                self._over = True
                self.take_over()

    async def _claim(self) -> bool:
        """The place did not answer when the client came: whether this conversation is the one to be
        kept. What it has of an earlier one is left as it is, for a later return."""
        store, keep_s = self._shared.store, self._shared.keep_s
        claim = await store.claim(self._name, self._replica, keep_s, 0.0)
        holder = Holder(self._name, self._replica, claim.epoch)
        if claim.state is not None:
            self._over = True
            await store.leave(holder, claim.state, self._shared.after_s)
            return False
        self.holder = holder
        return True

    def _bytes(self) -> bytes | None:
        if self._snapshot is None:
            return None
        try:
            return to_bytes(self._snapshot())
        except TooLong as error:
            log.warning("a conversation is not kept outside this process: %s", error)
            return None
