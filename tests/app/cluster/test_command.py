"""The command `cluster`: what is refused before anything is started, and what is told. No Ray."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from rich.console import Console

from s2s.app.cluster import command
from s2s.app.cluster.command import ClusterUnavailable, check, cluster, tell, told_processes
from s2s.app.cluster.plan import PlanError
from s2s.app.serving.command import ServeUnavailable
from s2s.config.schema import Config
from s2s.transport.cluster.config import ClusterConfig, ClusterModelConfig
from s2s.transport.server.config import ServeConfig

CONFIG = Config(
    serve=ServeConfig(max_sessions=8),
    cluster=ClusterConfig(replicas=2, proxy="python", tts=ClusterModelConfig(replicas=3)),
)


@pytest.fixture
def with_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray is installed, as far as one can see."""
    found = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> object:
        return object() if name == "ray" else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    monkeypatch.delenv("S2S_API_KEY", raising=False)


def not_found(name: str) -> None:
    del name


def test_without_ray_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", not_found)
    with pytest.raises(ClusterUnavailable, match=r"s2s\[cluster\]"):
        check(CONFIG)


@pytest.mark.usefixtures("with_ray")
@pytest.mark.parametrize(
    ("serve", "told"),
    [
        (ServeConfig(host="0.0.0.0"), "key"),
        (ServeConfig(tls=True), r"serve\.tls"),
        (ServeConfig(codec_stream=True), "codec-stream"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_started(serve: ServeConfig, told: str) -> None:
    with pytest.raises((PlanError, ServeUnavailable, ValueError), match=told):
        cluster(replace(CONFIG, serve=serve))


@pytest.mark.usefixtures("with_ray")
def test_all_else_is_checked_and_well() -> None:
    check(CONFIG)


class Started:
    """What was done, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []

        @contextmanager
        def running_ray(config: Config) -> Generator[None]:
            self.done.append("ray")
            yield
            self.done.append("ended")

        monkeypatch.setattr(command, "running_ray", running_ray)

        def check_room(config: Config) -> None:
            self.done.append("room")

        def deploy(config: Config) -> None:
            self.done.append("deployed")

        monkeypatch.setattr(command, "check_room", check_room)
        monkeypatch.setattr(command, "deploy", deploy)


@pytest.mark.usefixtures("with_ray")
def test_on_a_cluster_that_runs_it_returns_when_the_processes_are_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started = Started(monkeypatch)
    assert cluster(replace(CONFIG, cluster=replace(CONFIG.cluster, address="auto"))) == 0
    assert started.done == ["ray", "room", "deployed", "ended"]
    assert "serve shutdown" in capsys.readouterr().out


@pytest.mark.usefixtures("with_ray")
def test_one_that_it_started_ends_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stopped:
        def wait(self) -> None:
            started.done.append("served")

        def set(self) -> None: ...

    started = Started(monkeypatch)
    monkeypatch.setattr(command.threading, "Event", Stopped)
    assert cluster(CONFIG) == 0
    assert started.done == ["ray", "room", "deployed", "served", "ended"]
    assert "finished first" in capsys.readouterr().out


def test_it_tells_where_it_is_and_of_how_many() -> None:
    out = io.StringIO()
    tell(Console(file=out, width=200), CONFIG, 12.34)
    told = out.getvalue()
    assert "12.3 s" in told
    assert "http://localhost:8765/" in told
    assert "16 conversations" in told
    assert "Ray's proxy" in told
    assert told_processes(CONFIG) == "2 processes of sessions, 3 of tts"
