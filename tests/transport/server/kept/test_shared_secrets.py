"""Client secrets of one server on another."""

from __future__ import annotations

import asyncio
import logging

import pytest

from s2s.transport.server.client_secrets import PREFIX
from s2s.transport.server.kept.shared_secrets import SharedSecrets
from s2s.transport.server.kept.store import StoreUnreachable
from tests.support.stores import BrokenStore, Time

SESSION = {"type": "realtime", "instructions": "Rhyme."}


class Remembering(BrokenStore):
    """One that knows no secret in the clear."""

    def __init__(self, time: Time) -> None:
        super().__init__(time)
        self.names: list[str] = []

    async def remember(self, name: str, value: bytes, keep_s: float) -> None:
        if not self.reachable:
            raise StoreUnreachable("The place is out of reach.")
        self.names.append(name + value.decode())
        await super().remember(name, value, keep_s)


def test_a_secret_is_good_on_every_server_until_it_ends():
    async def main() -> None:
        time = Time()
        store = Remembering(time)
        one, other = SharedSecrets(store), SharedSecrets(store)
        made = await one.make(SESSION, 60, time())
        found = await other.find(made.value, time() + 59.0)
        assert found == made
        assert made.value not in store.names[0]
        assert await other.find(made.value, time() + 60.0) is None
        time.now_s += 61.0
        assert await other.find(made.value, time()) is None
        assert await other.find(PREFIX + "other", time()) is None
        assert await other.find("key", time()) is None
        assert await other.find(None, time()) is None

    asyncio.run(main())


@pytest.mark.parametrize("kept", [b"[]", b"{}", b'{"expires_at": 1, "session": {}}'])
def test_what_is_no_secret_is_none(kept: bytes):
    async def main() -> None:
        time = Time()
        store = Remembering(time)
        made = await SharedSecrets(store).make(SESSION, 60, time())
        await store.remember(store.names[0].partition("{")[0], kept, 60.0)
        assert await SharedSecrets(store).find(made.value, time()) is None

    asyncio.run(main())


def test_where_the_others_cannot_be_told_it_is_good_here(caplog: pytest.LogCaptureFixture):
    async def main() -> None:
        time = Time()
        store = Remembering(time)
        store.reachable = False
        one = SharedSecrets(store)
        with caplog.at_level(logging.WARNING):
            made = await one.make(SESSION, 60, time())
        assert await one.find(made.value, time()) == made
        assert "good on this server alone" in caplog.text
        assert made.value not in caplog.text
        alone = SharedSecrets(None)
        assert await alone.find((await alone.make(SESSION, 60, time())).value, time()) is not None

    asyncio.run(main())
