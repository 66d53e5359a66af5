"""The sockets of a replica are those of `serve`, whoever listens for it."""

from __future__ import annotations

import asyncio

import pytest
import uvicorn

from s2s.transport.cluster.replica_sockets import (
    HEALTH_PATH,
    UNQUEUED,
    Message,
    Receive,
    ReplicaSockets,
    Send,
)
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.run import PING_S, WAITING_MESSAGES, SocketLimits


class Engine:
    """The application of an engine around the replica's own."""

    def __init__(self) -> None:
        self.ends = False
        self.scopes: list[Message] = []

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        if scope.get("path") == HEALTH_PATH:
            status, body = (503, b"DRAINING") if self.ends else (200, b"success")
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": body})


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> ReplicaSockets:
    monkeypatch.setattr(uvicorn, "Config", uvicorn.Config)  # put back at the end
    made = ReplicaSockets(SocketLimits.of(ServeConfig(max_message_bytes=1000)))
    made.install()
    return made


async def nothing() -> Message:
    return {"type": "http.request"}


async def unheard(message: Message) -> None:
    del message


def test_uvicorn_is_made_with_the_limits_of_serve_whatever_the_engine_asks(
    sockets: ReplicaSockets,
) -> None:
    engine = Engine()
    config = uvicorn.Config(
        lambda: engine, factory=True, lifespan="off", log_config=None, ws_max_size=7
    )
    assert config.ws_max_size == 2000
    assert config.ws_max_queue == WAITING_MESSAGES
    assert config.ws_ping_interval == config.ws_ping_timeout == PING_S
    assert config.ws_per_message_deflate is False
    assert config.lifespan == "off"
    assert not sockets.listening
    config.load()
    assert sockets.listening


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("sent", [[], [(b"X-Request-Disconnect-Disabled", b"?0")]])
def test_every_request_comes_without_the_engines_queue(
    sockets: ReplicaSockets, kind: str, sent: list[tuple[bytes, bytes]]
) -> None:
    engine = Engine()
    scope: Message = {"type": kind, "path": "/", "headers": [(b"host", b"here"), *sent]}
    asyncio.run(sockets.wrapped(engine)(scope, nothing, unheard))
    assert engine.scopes[0]["headers"] == [(b"host", b"here"), UNQUEUED]


def test_other_scopes_pass_as_they_are(sockets: ReplicaSockets) -> None:
    engine = Engine()
    asyncio.run(sockets.wrapped(engine)({"type": "lifespan"}, nothing, unheard))
    assert engine.scopes == [{"type": "lifespan"}]


def test_that_it_ends_is_heard_from_the_engine(sockets: ReplicaSockets) -> None:
    engine = Engine()
    assert not asyncio.run(sockets.ends())  # it does not listen yet
    sockets.wrapped(engine)
    assert not asyncio.run(sockets.ends())
    engine.ends = True
    assert asyncio.run(sockets.ends())
