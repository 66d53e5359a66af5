"""Conversations in Redis: what all places do is in test_stores.py; here is what its server may do
wrong.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import redis.exceptions

from s2s.transport.server.kept.redis_store import RedisStore
from s2s.transport.server.kept.store import Holder, StoreUnreachable
from tests.support.stores import real_redis


class Refusing:
    """A server that answers nothing."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.closed = False

    async def execute_command(self, *args: object) -> object:
        raise self.error

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    "error",
    [
        redis.exceptions.ConnectionError("with the password: secret"),
        redis.exceptions.AuthenticationError("wrong password: secret"),
        ConnectionResetError("secret"),
        TimeoutError(),
    ],
)
def test_a_server_out_of_reach_is_told_without_what_is_secret(error: Exception):
    async def main() -> None:
        client = Refusing(error)
        store = RedisStore(client, "redis://example.org:6379")
        for asked in (
            store.claim("name", "a", 1.0, 0.0),
            store.write(Holder("name", "a", 1), b"", 1.0),
            store.taken("a", 0.0),
            store.reports(),
        ):
            with pytest.raises(StoreUnreachable, match=r"redis://example\.org:6379") as caught:
                await asked
            assert "secret" not in str(caught.value)
            assert "see that it runs" in str(caught.value)
        await store.close()
        assert client.closed

    asyncio.run(main())


def test_an_address_that_is_none_is_refused_without_its_password():
    with pytest.raises(ValueError, match="redis://") as caught:
        RedisStore.at("http://:secret@example.org")
    assert "secret" not in str(caught.value)


@pytest.mark.cluster
def test_a_server_that_ends_is_out_of_reach_within_seconds(tmp_path: Path):
    async def main() -> None:
        with real_redis(tmp_path) as url:
            store = RedisStore.at(url)
            waiting = asyncio.create_task(store.taken("a", 60.0))
            await store.remember("a", b"b", 60.0)
            assert await store.recall("a") == b"b"
        async with asyncio.timeout(10):
            with pytest.raises(StoreUnreachable):
                await waiting
            with pytest.raises(StoreUnreachable):
                await store.recall("a")
        await store.close()

    asyncio.run(main())
