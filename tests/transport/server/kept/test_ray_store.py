"""Conversations in the cluster's actor: what all places do is in test_stores.py; here is an actor
that dies, and is found again.
"""

from __future__ import annotations

import asyncio

import pytest

from s2s.transport.server.kept.memory_store import MemoryStore
from s2s.transport.server.kept.ray_store import Actor, RayStore, RemoteMethod
from s2s.transport.server.kept.store import StoreUnreachable
from tests.support.stores import actor_of


class Died(Exception):
    """As Ray tells it."""


def dead(name: str) -> RemoteMethod:
    raise Died(f"{name}: the actor's machine with the token abc was lost")


def test_an_actor_that_died_is_out_of_reach_and_then_found_again():
    async def main() -> None:
        found: list[Actor] = [dead, actor_of(MemoryStore())]
        store = RayStore(lambda: found.pop(0))
        with pytest.raises(StoreUnreachable, match="s2s-conversations") as caught:
            await store.remember("a", b"b", 60.0)
        assert "abc" not in str(caught.value)
        await store.remember("a", b"b", 60.0)
        assert await store.recall("a") == b"b"
        assert found == []

    asyncio.run(main())


def test_where_there_is_no_cluster_that_is_told_too():
    def none() -> Actor:
        raise Died("Ray has not been started")

    async def main() -> None:
        with pytest.raises(StoreUnreachable, match="Died"):
            await RayStore(none).reports()

    asyncio.run(main())
