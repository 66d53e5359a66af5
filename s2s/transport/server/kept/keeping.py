"""The conversations of one server in a place outside: who comes gets what another server wrote, and
what is said here is written there. On one event loop alone.

Nothing of a place that does not answer reaches a conversation that runs:
docs/decisions/conversations-kept-outside.md.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from s2s.transport.server.kept.figures import together
from s2s.transport.server.kept.store import (
    ConversationStore,
    Holder,
    StoreUnreachable,
    stored_name,
)
from s2s.transport.server.kept.writer import KeptBy, KeptWriter, Snapshot, WritingPace
from s2s.transport.server.kept.written import from_bytes

log = logging.getLogger(__name__)

LISTEN_S = 20.0
"""A question whether a client came elsewhere waits so long for an answer."""
REPORTS_KEPT_S = 15.0
"""Figures of a replica that reports no more are forgotten then."""
END_S = 2.0
"""What the last conversations have to be written at the end."""

TROUBLE = (
    "The place where conversations are kept does not answer, so an earlier conversation of this "
    "client cannot be gone on with now: a new one begins. To go on with the earlier one, end this "
    "one and come again with the same token once the place answers."
)


def replica_name() -> str:
    """Names this process; never the same again."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True)
class LocalCopy:
    """What a connection left in this process."""

    state: object
    epoch: int
    """Of that connection."""


@dataclass(frozen=True, slots=True)
class Came:
    """What a client comes back to."""

    earlier: object | None = None
    """What an earlier connection of it left, here or elsewhere."""
    keep: Callable[[Snapshot], None] | None = None
    """Told of every change; None where nothing is kept outside."""
    trouble: str = ""
    """Why it cannot go on with what it may have left elsewhere."""


class Keeping:
    """Of one server.

    Args:
        store: the place.
        resume_s: how long a conversation is kept after its connection ended.
        figures: this server's, for those of all.
        failed: counts failures of the place.
        pace: how often something is written.
        replica: the name of this server.
    """

    def __init__(
        self,
        store: ConversationStore,
        resume_s: float,
        figures: Callable[[], str],
        failed: Callable[[], None],
        *,
        pace: WritingPace | None = None,
        replica: str | None = None,
    ) -> None:
        self.store = store
        self._resume_s = resume_s
        self.replica = replica or replica_name()
        self._pace = pace or WritingPace()
        self._figures = figures
        self._failed = failed
        self._troubled = False
        self._shared = KeptBy(
            store,
            self._pace,
            keep_s=resume_s + 2 * self._pace.refresh_s,
            after_s=max(resume_s, 1.0),
            at_once=asyncio.Semaphore(self._pace.at_once),
            troubled=self._note,
        )
        self._writers: dict[str, KeptWriter] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Hear of clients that came elsewhere, and report. Idempotent."""
        if not self._loops:
            each = (self._listen(), self._refresh(), self._report())
            self._loops = [asyncio.create_task(loop) for loop in each]

    async def close(self) -> None:
        """Write what is left to be written, and let go of the place."""
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=END_S)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.store.close()

    # --- a client ----------------------------------------------------------------------------

    async def begin(
        self, token: str, key: str, take_over: Callable[[], None], local: object | None
    ) -> Came:
        """A client comes, and no connection of it is on this server any more.

        Args:
            token, key: its own, and what it was let in with.
            take_over: ends this connection, should the client come elsewhere.
            local: what `end` gave, where an earlier connection left something here.
        """
        copy = local if isinstance(local, LocalCopy) else None
        here = None if copy is None else copy.state
        if self._resume_s <= 0:
            return Came(here)
        self.start()
        name = stored_name(token, key)
        writer = KeptWriter(self._shared, name, self.replica, take_over)
        self._writers[name] = writer
        try:
            claim = await self.store.claim(
                name, self.replica, self._shared.keep_s, self._pace.hand_over_s
            )
        except StoreUnreachable as error:
            self._note(error)
            return Came(here, writer.changed, "" if copy is not None else TROUBLE)
        self._note(None)
        writer.holder = Holder(name, self.replica, claim.epoch)
        if copy is not None and claim.previous in (0, copy.epoch):
            return Came(here, writer.changed)
        if claim.state is None:
            return Came(None, writer.changed)
        written = from_bytes(claim.state)
        if written is None:
            log.error("what is kept of a conversation cannot be read: it begins anew")
        return Came(written, writer.changed)

    def end(self, token: str, key: str, state: object | None, *, done: bool) -> object | None:
        """Its connection has ended and left `state`; what is to be kept of it here. done: its
        client will not come back."""
        writer = self._writers.pop(stored_name(token, key), None)
        if writer is None:
            return state
        if isinstance(state, LocalCopy):  # it was not gone on with
            state = state.state
        self._spawn(writer.end(keeps=not done))
        return None if state is None else LocalCopy(state, writer.epoch)

    async def together(self) -> str:
        """The figures of all servers, each sample with the server's name; of those that report to
        the place, and of this one as it is now."""
        try:
            reports: dict[str, str] = dict(await self.store.reports())
        except StoreUnreachable as error:
            self._note(error)
            reports = {}
        return together(reports | {self.replica: self._figures()})

    # --- beside ------------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self) -> None:
        while True:
            try:
                taken = await self.store.taken(self.replica, LISTEN_S)
            except StoreUnreachable as error:
                self._note(error)
                await self._pace.pause(self._pace.retry_s)
                continue
            for name, epoch in taken:
                writer = self._writers.get(name)
                if writer is not None and writer.epoch == epoch:
                    writer.take_over()

    async def _refresh(self) -> None:
        while True:
            await self._pace.pause(self._pace.refresh_s)
            for writer in list(self._writers.values()):
                writer.wake()

    async def _report(self) -> None:
        while True:
            try:
                await self.store.report(self.replica, self._figures(), REPORTS_KEPT_S)
            except StoreUnreachable as error:
                self._note(error)
            await self._pace.pause(self._pace.report_s)

    def _note(self, error: StoreUnreachable | None) -> None:
        """Say it once for each outage."""
        if error is None:
            if self._troubled:
                log.warning("the place where conversations are kept answers again")
            self._troubled = False
            return
        self._failed()
        if not self._troubled:
            log.error("%s Conversations go on; none of another server can be gone on with.", error)
        self._troubled = True
