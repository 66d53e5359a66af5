"""Conversations in memory: what all places do is in test_stores.py; here is what goes with time."""

from __future__ import annotations

import asyncio

from s2s.transport.server.kept.memory_store import SILENT_S, MemoryStore
from s2s.transport.server.kept.shelf import OVERHEAD_BYTES
from s2s.transport.server.kept.store import Holder
from tests.support.stores import Time


def test_a_replica_that_asks_for_nothing_is_not_waited_for():
    async def main() -> None:
        time = Time()
        store = MemoryStore(time)
        first = await store.claim("name", "a", 600.0, 0.0)
        await store.write(Holder("name", "a", first.epoch), b"x", 600.0)
        assert await store.taken("a", 0.001) == []
        time.now_s += SILENT_S + 1
        async with asyncio.timeout(60):
            assert (await store.claim("name", "b", 600.0, 3_600.0)).state == b"x"

    asyncio.run(main())


def test_what_is_old_goes_by_itself_when_others_come():
    async def main() -> None:
        time = Time()
        store = MemoryStore(time)
        for number in range(10):
            await store.claim(f"{number}", "a", 20.0, 0.0)
            await store.remember(f"{number}", b"x", 20.0)
        assert await store.held() == (10, 10 * OVERHEAD_BYTES)
        time.now_s += 21.0
        await store.claim("new", "a", 20.0, 0.0)
        assert await store.held() == (1, OVERHEAD_BYTES)
        assert await store.recall("3") is None

    asyncio.run(main())
