"""What the processes of a cluster are told, and which settings it cannot have."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from s2s.app.cluster.plan import (
    REFUSED_AT_ONCE,
    ClusterPlan,
    PlanError,
    check_plan,
    engine_limit,
    needed_cpus,
    needed_gpus,
    own_stages,
    plan_of,
    target_sessions,
)
from s2s.app.loading import HERE
from s2s.bench.cluster.fakes import AT_ONCE
from s2s.config import loader
from s2s.config.schema import Config
from s2s.transport.cluster.config import ClusterConfig, ClusterModelConfig
from s2s.transport.server.config import ServeConfig
from s2s.transport.wyoming.config import WyomingConfig
from s2s.tts.qwen3_config import Qwen3Config

CLUSTER = ClusterConfig(
    replicas=3,
    cpus=2,
    gpus=0.5,
    stt=ClusterModelConfig(replicas=2, cpus=0.5, gpus=0.25),
    tts=ClusterModelConfig(replicas=1, cpus=4, gpus=1),
)


def test_a_plan_says_the_whole_configuration_wherever_it_is_sent() -> None:
    config = loader.load(
        environment={}, flags=[("--x", "cluster.replicas", "3"), ("--y", "serve.max_sessions", "9")]
    )
    plan = pickle.loads(pickle.dumps(plan_of(config, needs_key=False)))
    assert plan.config() == config


def test_the_key_is_that_of_the_process_and_its_lack_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = Config(serve=ServeConfig(api_key_env="S2S_ANOTHER_KEY"))
    plan = plan_of(config, needs_key=True)
    monkeypatch.delenv("S2S_ANOTHER_KEY", raising=False)
    assert plan_of(config, needs_key=False).key(config) is None
    with pytest.raises(PlanError, match="S2S_ANOTHER_KEY"):
        plan.key(config)
    monkeypatch.setenv("S2S_ANOTHER_KEY", "secret")
    assert plan.key(config) == "secret"
    assert "secret" not in repr(plan)


def test_models_can_be_made_by_a_function() -> None:
    plan = ClusterPlan(loader.as_dict(Config()), made_by=AT_ONCE)
    models = plan.models(lambda _: None, HERE)
    assert models.synthesizer.capabilities.sample_rate_hz == 24_000


def test_the_engine_never_makes_one_wait_that_is_let_in_or_refused() -> None:
    config = Config(serve=ServeConfig(max_sessions=20, http_workers=2, http_waiting=16))
    assert engine_limit(config) == 20 + 2 + 16 + REFUSED_AT_ONCE


def test_another_process_is_started_before_those_that_run_are_full() -> None:
    config = Config(serve=ServeConfig(max_sessions=20))
    assert target_sessions(config) == 15
    assert target_sessions(Config(serve=ServeConfig(max_sessions=1))) == 1
    cluster = ClusterConfig(target_sessions=4)
    assert target_sessions(replace(config, cluster=cluster)) == 4


def test_what_all_processes_set_aside() -> None:
    config = Config(cluster=CLUSTER)
    assert own_stages(config) == ("stt", "tts")
    assert needed_cpus(config) == 3 * 2 + 2 * 0.5 + 4
    assert needed_gpus(config) == 3 * 0.5 + 2 * 0.25 + 1


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (Config(serve=ServeConfig(tls=True)), "serve.tls"),
        (Config(serve=ServeConfig(tls_cert="a", tls_key="b")), "serve.tls"),
        (Config(serve=ServeConfig(port=0)), "serve.port"),
        (Config(wyoming=WyomingConfig(enabled=True)), "wyoming.enabled"),
        (Config(cluster=CLUSTER, serve=ServeConfig(codec_stream=True)), "cluster.tts.replicas"),
    ],
)
def test_what_a_cluster_cannot_have_is_told_by_its_name(config: Config, told: str) -> None:
    with pytest.raises(PlanError, match=told):
        check_plan(config)


def test_all_else_it_can() -> None:
    check_plan(Config())
    check_plan(Config(cluster=CLUSTER))
    qwen3 = replace(Config().tts, backend="qwen3", options=Qwen3Config())
    check_plan(Config(serve=ServeConfig(codec_stream=True), tts=qwen3))
