"""A process of sessions without an engine: it serves as `serve` does, and ends without losing an
answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
import uvicorn
from starlette.testclient import TestClient, WebSocketDenialResponse, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from s2s.app.cluster.plan import ClusterPlan
from s2s.app.cluster.remote_models import ClusterTranscriber, ClusterVoice, ModelHandles, VoiceFacts
from s2s.app.cluster.replica import (
    ServedSessions,
    SessionProcess,
    drain_at_the_end,
    served_sessions,
)
from s2s.bench.cluster.fakes import AT_ONCE
from s2s.config import loader
from s2s.config.schema import Config
from s2s.transport.cluster.config import ClusterConfig
from s2s.transport.server.app import make_app
from s2s.transport.server.config import ServeConfig
from s2s.tts.base import Capabilities

CONFIG = Config(
    serve=ServeConfig(max_sessions=2, resume_store="process"), cluster=ClusterConfig(drain_s=5.0)
)
PLAN = ClusterPlan(loader.as_dict(CONFIG), made_by=AT_ONCE)
REALTIME = "ws://localhost/v1/realtime?model=any"


def a_client(served: ServedSessions) -> TestClient:
    return TestClient(make_app(served.server), base_url="http://localhost")


def read_to_the_end(socket: WebSocketTestSession) -> None:
    while True:
        socket.receive_json()


def test_it_serves_as_one_machine_does_and_refuses_who_is_too_many() -> None:
    served = served_sessions(PLAN, ModelHandles())
    with a_client(served) as client:
        assert client.get("/health").json() == {"status": "ok", "sessions": 0, "max_sessions": 2}
        with client.websocket_connect(REALTIME) as one, client.websocket_connect(REALTIME) as two:
            assert one.receive_json()["type"] == two.receive_json()["type"] == "session.created"
            refused = client.get("/v1/realtime")
            assert refused.status_code == 503
            assert refused.json()["error"]["code"] == "session_limit_reached"
            assert refused.headers["retry-after"]
    served.close()


def test_one_that_ends_takes_nobody_and_says_so() -> None:
    served = served_sessions(PLAN, ModelHandles())
    with a_client(served) as client:
        served.server.draining = True
        told = client.get("/health")
        assert (told.status_code, told.json()["status"]) == (503, "draining")
        assert client.get("/v1/realtime").json()["error"]["code"] == "draining"
        with (
            pytest.raises(WebSocketDenialResponse) as refused,
            client.websocket_connect(REALTIME),
        ):
            pass
        assert refused.value.status_code == 503
        assert client.get("/metrics").text.count('s2s_refused_total{reason="draining"} 1') == 1
    served.close()


def test_who_is_there_is_told_to_come_again() -> None:
    served = served_sessions(PLAN, ModelHandles())
    with a_client(served) as client, client.websocket_connect(REALTIME) as socket:
        assert socket.receive_json()["type"] == "session.created"
        assert client.portal is not None
        client.portal.call(served.drain, 5.0)
        with pytest.raises(WebSocketDisconnect) as ended:
            read_to_the_end(socket)
        assert ended.value.code == 1012
    served.close()


def test_it_is_drained_once_the_engine_has_decided_that_it_ends() -> None:
    served = served_sessions(PLAN, ModelHandles())
    asked = iter([False, False, True])
    paused: list[float] = []

    async def ends() -> bool:
        return next(asked)

    async def pause(seconds: float) -> None:
        assert not served.server.draining
        paused.append(seconds)

    asyncio.run(drain_at_the_end(served, ends, 5.0, pause))
    assert len(paused) == 2
    assert served.server.draining
    served.close()


class Handle:
    """The processes of a voice."""

    async def ask(self, method: str, *given: object) -> AsyncGenerator[object]:
        assert method == "facts"
        yield VoiceFacts(Capabilities(8_000, streaming=True, languages=("en",)), False)


def test_models_of_other_processes_stand_in_place_of_its_own() -> None:
    served = served_sessions(PLAN, ModelHandles(stt=Handle(), tts=Handle()))
    assert isinstance(served.models.transcriber, ClusterTranscriber)
    assert isinstance(served.models.synthesizer, ClusterVoice)
    assert served.models.synthesizer.capabilities.sample_rate_hz == 8_000
    served.close()


def test_a_process_begins_watches_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn, "Config", uvicorn.Config)  # put back at the end
    ended = asyncio.Event()
    process = SessionProcess(PLAN, ModelHandles(), ended.is_set)

    async def run() -> None:
        process.check()  # before it has begun there is nothing wrong with it
        app = await process.begin()
        assert callable(app)
        process.check()
        process.end()

    asyncio.run(run())


def test_one_that_could_not_begin_ends_all_the_same() -> None:
    plan = replace(PLAN, needs_key=True)
    process = SessionProcess(plan, ModelHandles())
    with pytest.raises(ValueError, match="S2S_API_KEY"):
        asyncio.run(process.begin())
    process.end()


def test_where_the_watch_fails_the_engine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn, "Config", uvicorn.Config)

    def broken() -> bool:
        raise RuntimeError("the engine is another one")

    async def run() -> None:
        process = SessionProcess(PLAN, ModelHandles(), broken)
        await process.begin()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="another one"):
            process.check()
        process.end()

    asyncio.run(run())
