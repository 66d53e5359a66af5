"""What a connection has is written beside everything else, and no more often than it should be."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from s2s.transport.server.kept.memory_store import MemoryStore
from s2s.transport.server.kept.store import Holder, StoreUnreachable, Written
from s2s.transport.server.kept.writer import KeptBy, KeptWriter, WritingPace
from s2s.transport.server.kept.written import from_bytes
from tests.support.stores import Beats, settled


class Slow(MemoryStore):
    """Notes what it is given, and answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[bytes | None] = []
        self.answers = asyncio.Semaphore(0)

    async def write(self, holder: Holder, state: bytes | None, keep_s: float) -> Written:
        self.given.append(state)
        await self.answers.acquire()
        return await super().write(holder, state, keep_s)


@dataclass
class Talk:
    """A conversation whose items are counted."""

    store: Slow
    beats: Beats = field(default_factory=Beats)
    items: int = 0
    taken: int = 0
    troubles: list[StoreUnreachable | None] = field(default_factory=list)

    async def begun(self) -> KeptWriter:
        shared = KeptBy(
            self.store,
            WritingPace(pause=self.beats.pause),
            60.0,
            30.0,
            asyncio.Semaphore(1),
            self.troubles.append,
        )
        writer = KeptWriter(shared, "name", "a", self._take_over)
        claim = await self.store.claim("name", "a", 60.0, 0.0)
        writer.holder = Holder("name", "a", claim.epoch)
        return writer

    def _take_over(self) -> None:
        self.taken += 1

    def snapshot(self) -> Mapping[str, object]:
        return {"items": self.items, "entries": []}

    def written(self) -> list[object]:
        """How many items each writing had; None: keep it."""
        found: list[object] = []
        for state in self.store.given:
            read = None if state is None else from_bytes(state)
            found.append(None if read is None else read["items"])
        return found


def test_while_one_writing_is_under_way_all_changes_become_the_next():
    async def main() -> None:
        talk = Talk(Slow())
        writer = await talk.begun()
        for talk.items in (1, 2):
            writer.changed(talk.snapshot)
        await settled()
        assert talk.written() == [2]
        for talk.items in (3, 4, 5):
            writer.changed(talk.snapshot)
        await settled()
        assert talk.written() == [2]
        talk.store.answers.release()
        await settled()
        assert talk.written() == [2]  # not before the pause is over
        await talk.beats.over(WritingPace().between_s)
        assert talk.written() == [2, 5]
        talk.store.answers.release()
        await settled()
        await talk.beats.over(WritingPace().between_s)
        assert talk.written() == [2, 5]  # nothing is new
        writer.wake()
        await settled()
        assert talk.written() == [2, 5, None]  # kept for longer
        await writer.end(keeps=True)

    asyncio.run(main())


def test_at_the_end_all_of_it_is_left_whatever_is_under_way():
    async def main() -> None:
        talk = Talk(Slow())
        writer = await talk.begun()
        writer.changed(talk.snapshot)
        await settled()
        talk.items = 7
        await writer.end(keeps=True)
        claim = await talk.store.claim("name", "b", 60.0, 0.0)
        assert claim.state is not None
        assert from_bytes(claim.state) == talk.snapshot()

    asyncio.run(main())


def test_whose_client_came_elsewhere_is_ended_and_writes_no_more():
    async def main() -> None:
        talk = Talk(Slow())
        writer = await talk.begun()
        await talk.store.claim("name", "b", 60.0, 0.0)
        writer.changed(talk.snapshot)
        talk.store.answers.release()
        await settled()
        assert talk.taken == 1
        writer.changed(talk.snapshot)
        await settled()
        assert talk.written() == [0]
        await writer.end(keeps=True)

    asyncio.run(main())


def test_a_connection_that_said_nothing_leaves_what_was_there():
    async def main() -> None:
        talk = Talk(Slow())
        first = await talk.store.claim("name", "x", 60.0, 0.0)
        await talk.store.leave(Holder("name", "x", first.epoch), b"earlier", 60.0)
        writer = await talk.begun()
        talk.store.answers.release()
        await writer.end(keeps=True)
        assert (await talk.store.claim("name", "b", 60.0, 0.0)).state == b"earlier"

    asyncio.run(main())
