"""The clients of the cluster's benchmark, with a real server of one process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from s2s.app.serving.conversing import Conversing
from s2s.bench.cluster.clients import ClusterClient, Gone, NotLetIn, connected, leave, ways_ms
from s2s.bench.load.served import models_at_once
from s2s.config.schema import Config
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import ClientOpening, ClientSocket
from s2s.transport.server.metrics import ServerMetrics
from s2s.transport.server.server import Server
from tests.support.serving import fake_server, served

PLACES = 2


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    config = Config(serve=ServeConfig(port=0, max_sessions=PLACES))
    metrics = ServerMetrics()
    conversing = Conversing(config, models_at_once(), metrics)
    with served(Server(config.serve, None, conversing.services({}), metrics)) as made:
        yield made


def test_a_talker_asks_is_answered_and_knows_how_long_the_way_is(port: int) -> None:
    async def run() -> None:
        (talker,) = await connected_at_last(port, 1)
        assert await talker.ask() == "completed"
        assert len(talker.items) == 1
        assert await talker.remembers()
        assert await talker.there_and_back_ms() > 0
        await talker.begin_asking("And now?")
        await talker.first_sound()
        assert await talker.answered() == "completed"
        await talker.leave()

    asyncio.run(run())


def test_all_of_them_send_and_are_told_how_long_it_took(port: int) -> None:
    async def run() -> list[list[float]]:
        talkers = await connected_at_last(port, PLACES)
        try:
            return await ways_ms(talkers, 0.05, every_s=0.01)
        finally:
            await leave(talkers)

    ways = asyncio.run(run())
    assert len(ways) == PLACES
    assert all(way > 0 for found in ways for way in found)


def test_who_is_too_many_is_told_and_counted(port: int) -> None:
    async def run() -> None:
        talkers = await connected_at_last(port, PLACES)
        refused = await ClusterClient(port).connect()
        assert isinstance(refused, NotLetIn)
        assert refused.status == 503
        with pytest.raises(RuntimeError, match="client 1 of 1"):
            await connected(port, 1)
        await leave(talkers)
        with pytest.raises(RuntimeError, match=r"client \d of"):
            await connected(port, PLACES + 1)
        await leave(await connected_at_last(port, PLACES))

    asyncio.run(run())


async def connected_at_last(port: int, number: int) -> list[ClusterClient]:
    """Those, once the places of others are free: a server hears of their end a little later."""
    while True:
        try:
            return await connected(port, number)
        except RuntimeError:
            await asyncio.sleep(0)


class Ends:
    """A server that greets, and closes with a code when it is asked anything; greets again."""

    async def __call__(self, socket: ClientSocket, opening: ClientOpening) -> None:
        await socket.send_text(json.dumps({"type": "session.created"}))
        await socket.receive_text()
        await socket.close(1012, "come again")


def test_who_loses_its_connection_knows_how_and_comes_back() -> None:
    async def run(port: int) -> ClusterClient:
        (talker,) = await connected(port, 1)
        token = talker.token
        with pytest.raises(Gone) as gone:
            await talker.there_and_back_ms()
        assert gone.value.code == 1012
        await talker.come_back()
        assert talker.token == token
        assert await ways_ms([talker], 10.0) == [[]]
        await talker.leave()
        return talker

    with served(fake_server(converse=Ends())) as port:
        talker = asyncio.run(run(port))
    assert talker.lost.codes == [1012, 1012]
    assert len(talker.lost.back_s) == 1


def test_who_was_never_there_leaves_nothing() -> None:
    asyncio.run(leave([ClusterClient(9)]))
