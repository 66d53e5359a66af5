"""Conversations in the memory of one process: that of a test, or of an actor that all replicas
ask. On one event loop alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from s2s.transport.server.kept.shelf import MOST, MOST_BYTES, Shelf
from s2s.transport.server.kept.store import Claim, Holder, Written

TIDY_S = 10.0
"""Between two looks for what was kept long enough."""
SILENT_S = 60.0
"""A replica that asked for nothing for so long is gone."""
MOST_VALUES = 10_000
"""Values that are remembered; the oldest go."""


@dataclass(slots=True)
class _Mailbox:
    """What a replica is to be told."""

    taken: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    some: asyncio.Event = field(default_factory=asyncio.Event)
    asked_s: float = 0.0


class MemoryStore:
    """`ConversationStore` in memory.

    Args:
        now: seconds since 1970.
        most, most_bytes: how many conversations are kept, and how many bytes of them.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.time,
        most: int = MOST,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._now = now
        self._shelf = Shelf(now, most, most_bytes)
        self._values: dict[str, tuple[bytes, float]] = {}
        self._reports: dict[str, tuple[str, float]] = {}
        self._mailboxes: dict[str, _Mailbox] = {}
        self._handed: dict[tuple[str, int], asyncio.Event] = {}
        """(name, epoch) of connections that are to hand over -> set when they have."""
        self._tidied_s = now()

    async def claim(self, name: str, replica: str, keep_s: float, wait_s: float) -> Claim:
        """See `ConversationStore`."""
        self._tidy()
        claimed = self._shelf.claim(name, replica, keep_s)
        claim, older = claimed.claim, claimed.older
        if older is None or older == replica:
            return claim
        box = self._mailboxes.get(older)
        if box is None or self._now() - box.asked_s > SILENT_S:
            return claim
        box.taken.append((name, claim.previous))
        box.some.set()
        handed = self._handed[name, claim.previous] = asyncio.Event()
        try:
            await asyncio.wait_for(handed.wait(), wait_s)
        except TimeoutError:
            self._shelf.give_up_waiting(name)
        finally:
            self._handed.pop((name, claim.previous), None)
        return Claim(claim.epoch, claim.previous, self._shelf.state(name))

    async def write(self, holder: Holder, state: bytes | None, keep_s: float) -> Written:
        """See `ConversationStore`."""
        return self._shelf.write(holder, state, keep_s)

    async def leave(self, holder: Holder, state: bytes | None, keep_s: float) -> None:
        """See `ConversationStore`."""
        if not self._shelf.leave(holder, state, keep_s):
            return
        if (handed := self._handed.get((holder.name, holder.epoch))) is not None:
            handed.set()

    async def taken(self, replica: str, wait_s: float) -> list[tuple[str, int]]:
        """See `ConversationStore`."""
        box = self._mailboxes.setdefault(replica, _Mailbox())
        box.asked_s = self._now()
        if not box.taken:
            try:
                await asyncio.wait_for(box.some.wait(), wait_s)
            except TimeoutError:
                return []
        taken, box.taken = box.taken, []
        box.some.clear()
        return taken

    async def remember(self, name: str, value: bytes, keep_s: float) -> None:
        """See `ConversationStore`."""
        self._values.pop(name, None)
        self._values[name] = (value, self._now() + keep_s)
        while len(self._values) > MOST_VALUES:
            del self._values[next(iter(self._values))]

    async def recall(self, name: str) -> bytes | None:
        """See `ConversationStore`."""
        value, until_s = self._values.get(name, (None, 0.0))
        return value if until_s > self._now() else None

    async def report(self, replica: str, text: str, keep_s: float) -> None:
        """See `ConversationStore`."""
        self._reports[replica] = (text, self._now() + keep_s)

    async def reports(self) -> Mapping[str, str]:
        """See `ConversationStore`."""
        self._tidied_s = 0.0
        self._tidy()
        return {replica: text for replica, (text, _) in sorted(self._reports.items())}

    async def close(self) -> None:
        """See `ConversationStore`."""

    async def held(self) -> tuple[int, int]:
        """(conversations, bytes) that are kept."""
        return len(self._shelf), self._shelf.size

    def _tidy(self) -> None:
        """Drop what was kept long enough; not at every call."""
        now_s = self._now()
        if now_s - self._tidied_s < TIDY_S:
            return
        self._tidied_s = now_s
        self._shelf.forget_old()
        self._values = {n: kept for n, kept in self._values.items() if kept[1] > now_s}
        self._reports = {r: kept for r, kept in self._reports.items() if kept[1] > now_s}
        self._mailboxes = {
            r: box for r, box in self._mailboxes.items() if now_s - box.asked_s <= SILENT_S
        }
