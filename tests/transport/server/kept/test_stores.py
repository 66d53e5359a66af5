"""What all places do alike: one process' memory, the cluster's actor, Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from s2s.transport.server.kept.memory_store import MemoryStore
from s2s.transport.server.kept.ray_store import RayStore
from s2s.transport.server.kept.redis_store import RedisStore
from s2s.transport.server.kept.store import Claim, ConversationStore, Holder, stored_name
from tests.support.stores import actor_of, fake_redis, real_redis

NAME = stored_name("t" * 32, "")
LONG_S = 30.0

Test = Callable[[ConversationStore], Awaitable[None]]
Holds = Callable[[Test], None]


@pytest.fixture(
    params=["memory", "actor", "fake redis", pytest.param("redis", marks=pytest.mark.cluster)]
)
def held(request: pytest.FixtureRequest, tmp_path: Path) -> Holds:
    """Runs a test on a place of each kind."""

    async def on(store: ConversationStore, test: Test) -> None:
        try:
            async with asyncio.timeout(60):
                await test(store)
        finally:
            await store.close()

    def hold(test: Test) -> None:
        async def main() -> None:
            match request.param:
                case "memory":
                    await on(MemoryStore(), test)
                case "actor":
                    actor = actor_of(MemoryStore())
                    await on(RayStore(lambda: actor), test)
                case "fake redis":
                    await on(fake_redis(), test)
                case _:
                    with real_redis(tmp_path) as url:
                        await on(RedisStore.at(url), test)

        asyncio.run(main())

    return hold


def holder(claim: Claim, replica: str = "a") -> Holder:
    return Holder(NAME, replica, claim.epoch)


def test_a_lost_replica_leaves_what_it_wrote_last(held: Holds):
    async def test(store: ConversationStore) -> None:
        first = await store.claim(NAME, "a", LONG_S, 0.0)
        assert (first.previous, first.state) == (0, None)
        assert await store.write(holder(first), b"one \x00\xff", LONG_S) == "kept"
        assert await store.write(holder(first), b"two", LONG_S) == "kept"
        assert await store.write(holder(first), None, LONG_S) == "kept"
        second = await store.claim(NAME, "b", LONG_S, 0.001)
        assert second.state == b"two"
        assert second.previous == first.epoch < second.epoch

    held(test)


def test_the_newest_connection_wins_and_the_older_is_told_and_hands_over(held: Holds):
    async def test(store: ConversationStore) -> None:
        first = await store.claim(NAME, "a", LONG_S, 0.0)
        await store.write(holder(first), b"early", LONG_S)
        told = asyncio.create_task(store.taken("a", LONG_S))
        await asyncio.sleep(0)
        coming = asyncio.create_task(store.claim(NAME, "b", LONG_S, LONG_S))
        assert await told == [(NAME, first.epoch)]
        assert await store.write(holder(first), b"too late", LONG_S) == "taken"
        await store.leave(holder(first), b"the latest", LONG_S)
        second = await coming
        assert second.state == b"the latest"
        await store.leave(holder(first), b"not once more", LONG_S)
        third = await store.claim(NAME, "b", LONG_S, 0.0)  # its own: nobody is waited for
        assert third.state == b"the latest"

    held(test)


def test_an_older_connection_that_hands_nothing_over_is_not_waited_for_long(held: Holds):
    async def test(store: ConversationStore) -> None:
        first = await store.claim(NAME, "a", LONG_S, 0.0)
        await store.write(holder(first), b"early", LONG_S)
        assert await store.taken("a", 0.001) == []
        second = await store.claim(NAME, "b", LONG_S, 0.01)
        assert second.state == b"early"
        assert await store.write(holder(second, "b"), b"newer", LONG_S) == "kept"
        await store.leave(holder(first), b"late", LONG_S)
        assert (await store.claim(NAME, "b", LONG_S, 0.0)).state == b"newer"

    held(test)


def test_a_client_that_is_done_leaves_nothing_and_its_next_connection_is_newer(held: Holds):
    async def test(store: ConversationStore) -> None:
        first = await store.claim(NAME, "a", LONG_S, 0.0)
        await store.write(holder(first), b"secret", LONG_S)
        await store.leave(holder(first), None, LONG_S)
        second = await store.claim(NAME, "b", LONG_S, LONG_S)  # nobody is waited for
        assert (second.previous, second.state) == (first.epoch, None)

    held(test)


def test_what_a_client_left_is_there_for_the_next(held: Holds):
    async def test(store: ConversationStore) -> None:
        first = await store.claim(NAME, "a", LONG_S, 0.0)
        await store.leave(holder(first), b"left", LONG_S)
        assert (await store.claim(NAME, "b", LONG_S, LONG_S)).state == b"left"

    held(test)


def test_after_a_loss_of_everything_who_runs_writes_it_again(held: Holds):
    async def test(store: ConversationStore) -> None:
        running = Holder(NAME, "a", 1_700_000_000_000)
        assert await store.write(running, None, LONG_S) == "unknown"
        assert await store.write(running, b"whole", LONG_S) == "kept"
        second = await store.claim(NAME, "b", LONG_S, 0.001)
        assert second.state == b"whole"
        assert second.epoch > running.epoch

    held(test)


def test_what_was_kept_long_enough_is_gone(held: Holds):
    async def test(store: ConversationStore) -> None:
        first = await store.claim(NAME, "a", LONG_S, 0.0)
        await store.leave(holder(first), b"left", 0.001)
        await store.remember("value", b"gone", 0.001)
        await store.report("a", "x 1\n", 0.001)
        await asyncio.sleep(0.02)
        assert (await store.claim(NAME, "b", LONG_S, 0.0)).state is None
        assert await store.recall("value") is None
        assert await store.reports() == {}

    held(test)


def test_values_and_figures_are_read_by_all(held: Holds):
    async def test(store: ConversationStore) -> None:
        assert await store.recall("value") is None
        await store.remember("value", b"\x00one", LONG_S)
        assert await store.recall("value") == b"\x00one"
        await store.report("b", "x 1\n", LONG_S)
        await store.report("a", "x 2\n", LONG_S)
        await store.report("a", "x 3\n", LONG_S)
        assert await store.reports() == {"a": "x 3\n", "b": "x 1\n"}

    held(test)


def test_from_a_name_neither_token_nor_key_can_be_told():
    assert stored_name("token", "key") != stored_name("token", "")
    assert stored_name("1:aa", "") != stored_name("a", "1:a")
    assert "token" not in stored_name("token", "key")
    assert len(stored_name("token", "key")) == 64
