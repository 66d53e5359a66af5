"""What Ray Serve is told of each deployment, and what a `serve.yaml` may say; no Ray runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from s2s.app.cluster.application import (
    RayHandle,
    SessionReplica,
    build,
    model_options,
    session_options,
    settings_of,
)
from s2s.app.cluster.plan import ClusterPlan, engine_limit, plan_of
from s2s.bench.cluster.fakes import AT_ONCE
from s2s.config import loader
from s2s.config.schema import Config
from s2s.transport.cluster.config import ClusterConfig, ClusterModelConfig
from s2s.transport.server.config import ServeConfig

ROOT = Path(__file__).parents[3]
CONFIG = Config(
    serve=ServeConfig(max_sessions=20),
    cluster=ClusterConfig(
        replicas=2,
        cpus=0.5,
        gpus=0.25,
        drain_s=12,
        tts=ClusterModelConfig(replicas=3, cpus=2, gpus=0.5, at_once=4, waiting=7),
    ),
)


def test_sessions_are_told_how_many_they_are_and_how_they_end() -> None:
    options = session_options(CONFIG)
    assert options["num_replicas"] == 2
    assert options["ray_actor_options"] == {"num_cpus": 0.5, "num_gpus": 0.25}
    assert options["graceful_shutdown_timeout_s"] == 22
    assert options["max_ongoing_requests"] == engine_limit(CONFIG) > 20
    assert "autoscaling_config" not in options


def test_more_sessions_start_more_of_them_where_that_is_wanted() -> None:
    cluster = replace(CONFIG.cluster, max_replicas=8, scale_down_s=60)
    options = session_options(replace(CONFIG, cluster=cluster))
    scaling = options["autoscaling_config"]
    assert isinstance(scaling, dict)
    assert (scaling["min_replicas"], scaling["max_replicas"]) == (2, 8)
    assert scaling["target_ongoing_requests"] == 15
    assert scaling["downscale_delay_s"] == 60
    assert "num_replicas" not in options


def test_a_model_is_told_its_share_and_how_many_may_wait() -> None:
    options = model_options(CONFIG, "tts")
    assert options["name"] == "tts"
    assert options["num_replicas"] == 3
    assert (options["max_ongoing_requests"], options["max_queued_requests"]) == (4, 7)
    assert options["ray_actor_options"] == {"num_cpus": 2, "num_gpus": 0.5}


def test_a_serve_yaml_gives_settings_a_file_of_them_or_both(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("cluster: {replicas: 5}\nserve: {max_sessions: 3}\n", encoding="utf-8")
    arguments = {"config": str(file), "settings": {"cluster": {"replicas": 7}}}
    config = settings_of(arguments)
    assert (config.cluster.replicas, config.serve.max_sessions) == (7, 3)
    assert settings_of({}).cluster == ClusterConfig()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"replicas": 3}, "replicas"),
        ({"settings": [1]}, "settings"),
        ({"config": 3}, "config"),
        ({"settings": {"cluster": {"replicas": 0}}}, "at least 1"),
        ({"settings": {"serve": {"tls": True}}}, r"serve\.tls"),
        ({"settings": {"serve": {"host": "0.0.0.0"}}}, "key"),
    ],
)
def test_what_is_wrong_in_it_is_told(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, object], told: str
) -> None:
    monkeypatch.delenv("S2S_API_KEY", raising=False)
    with pytest.raises(ValueError, match=told):
        build(arguments)


def test_the_serve_yaml_that_comes_along_is_read() -> None:
    whole = yaml.safe_load((ROOT / "contrib/cluster/serve.yaml").read_text(encoding="utf-8"))
    (found,) = whole["applications"]
    assert found["import_path"] == "s2s.app.cluster.application:build"
    assert found["route_prefix"] == "/"
    config = settings_of(found["args"])
    assert config.cluster.replicas >= 2
    assert whole["http_options"]["port"] == config.serve.port


def test_the_settings_that_come_along_are_read() -> None:
    config = loader.load(file=ROOT / "contrib/cluster/cluster.yaml", environment={})
    assert config.cluster.replicas >= 2


class Answer:
    """An answer of Ray Serve."""

    def __init__(self, items: list[object]) -> None:
        self.items = items
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    async def __aiter__(self) -> AsyncGenerator[object]:
        for item in self.items:
            yield item


class Handle:
    """A handle of Ray Serve."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[object] = []

    def options(self, *, stream: bool, method_name: str) -> Handle:
        self.asked += [stream, method_name]
        return self

    def remote(self, *given: object) -> Answer:
        self.asked += given
        return self.answer


def test_a_handle_is_asked_for_pieces_and_told_when_nobody_reads() -> None:
    answer = Answer(["one", "two"])
    handle = Handle(answer)

    async def run() -> list[object]:
        asked = RayHandle(handle).ask("speak", "Hi.")  # pyright: ignore[reportArgumentType]
        found = [await anext(asked)]
        await asked.aclose()
        return found

    assert asyncio.run(run()) == ["one"]
    assert handle.asked == [True, "speak", "Hi."]
    assert answer.cancelled


def test_the_deployment_of_sessions_begins_and_ends_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import uvicorn

    monkeypatch.setattr(uvicorn, "Config", uvicorn.Config)
    plan = ClusterPlan(plan_of(Config(), needs_key=False).settings, made_by=AT_ONCE)
    replica = SessionReplica(plan)

    async def run() -> None:
        app = await replica.__serve_build_asgi_app__()
        assert callable(app)
        replica.check_health()

    asyncio.run(run())
