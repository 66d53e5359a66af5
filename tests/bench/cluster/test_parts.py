"""The figures of a cluster, and the two parts of them that one process can show."""

from __future__ import annotations

import pytest

from s2s.app.serving.conversing import Conversing
from s2s.bench.cluster import parts
from s2s.bench.cluster.engine import RunningCluster, Wanted
from s2s.bench.cluster.parts import Figure, admission, connections
from s2s.bench.load.served import models_at_once
from s2s.config.schema import Config
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.metrics import ServerMetrics
from s2s.transport.server.server import Server
from tests.support.serving import served

WANTED = Wanted(replicas=1, sessions=3)


def test_a_figure_says_whether_it_is_held() -> None:
    held, above = Figure("a", 2.0, 3, "ms"), Figure("b", 4.0, 3, "ms", "on a bad day")
    assert held.held
    assert not above.held
    assert "ok" in held.line()
    assert above.line().split()[-4:] == ["on", "a", "bad", "day"]
    assert "ABOVE" in above.line()


def test_places_are_filled_and_the_next_one_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(serve=ServeConfig(port=0, max_sessions=3))
    metrics = ServerMetrics()
    conversing = Conversing(config, models_at_once(), metrics)
    with served(Server(config.serve, None, conversing.services({}), metrics)) as port:
        monkeypatch.setattr(parts, "PORT", port)
        one, storm = admission(RunningCluster(WANTED))
    assert one.value > 0
    assert storm.value > 0


def test_connections_come_and_go_and_memory_is_looked_at_before_and_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = Config(serve=ServeConfig(port=0, max_sessions=30))
    metrics = ServerMetrics()
    conversing = Conversing(config, models_at_once(), metrics)
    looks = iter([200.0, 1000.0, 210.0, 1020.0])
    for name, value in (("FIRST", 3), ("CONNECTIONS", 6), ("AT_ONCE", 3)):
        monkeypatch.setattr(parts, name, value)
    monkeypatch.setattr(parts, "memory_mb", lambda *_: next(looks))  # pyright: ignore
    monkeypatch.setattr(parts, "replicas", lambda: [1])
    monkeypatch.setattr(parts, "SETTLE_S", 0.0)
    with served(Server(config.serve, None, conversing.services({}), metrics)) as port:
        monkeypatch.setattr(parts, "PORT", port)
        own, whole = connections(RunningCluster(WANTED))
        told = metrics.text({})
    assert own.value == pytest.approx(5.0)
    assert whole.value == pytest.approx(2.0)
    assert "s2s_sessions_total 9" in told
