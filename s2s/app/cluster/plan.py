"""What every process of a cluster is told: the settings, and what is made of them. Plain data, as
it is sent to other machines. Knows no Ray.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from s2s.app.loading import Elsewhere, load_models
from s2s.app.serving.command import for_several
from s2s.config import loader, typed
from s2s.config.schema import Config
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.transport.cluster.config import ClusterModelConfig

StageName = Literal["stt", "llm", "tts"]
STAGES: tuple[StageName, ...] = ("stt", "llm", "tts")

REFUSED_AT_ONCE = 32
"""Clients that may be told at the same moment that there is no place, or ask for a page: the engine
never makes one wait, because it is allowed so many more than are let in."""
AFTER_DRAIN_S = 10.0
"""What a process may still take after `cluster.drain_s`, before the engine kills it."""


class PlanError(ValueError):
    """Settings with which there can be no cluster. The message says which, and what to do."""


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """What every process of a cluster is told."""

    settings: Mapping[str, object]
    """The configuration, as `loader.as_dict` writes it."""
    needs_key: bool = False
    """Clients must send the key that the environment of each process holds."""
    made_by: str | None = None
    """`module:function` that makes the models in place of the configuration: for measuring."""
    version: str = ""
    """Another text replaces every process, one after the other."""

    def config(self) -> Config:
        """The configuration."""
        return loader.from_tree(typed.tree(self.settings, "cluster"))

    def key(self, settings: Config) -> str | None:
        """What clients must send; None: nothing.

        Raises:
            PlanError: a key is needed, and this process' environment has none.
        """
        name = settings.serve.api_key_env
        key = os.environ.get(name) or None
        if self.needs_key and key is None:
            raise PlanError(
                f"clients are to send a key, and the environment of this process has no {name}: "
                "set it on every machine of the cluster before Ray is started there"
            )
        return key

    def models(self, notice: Callable[[str], None], elsewhere: Elsewhere) -> Models:
        """The models of a process of sessions; what is elsewhere is not loaded."""
        config = self.config()
        if self.made_by is None:
            return load_models(for_several(config), Store(), notice, elsewhere)
        return elsewhere.put_into(made_models(self.made_by))


def plan_of(config: Config, *, needs_key: bool, version: str = "") -> ClusterPlan:
    """What the processes are told of a configuration that was checked."""
    return ClusterPlan(loader.as_dict(config), needs_key, version=version)


def made_models(reference: str) -> Models:
    """The models that the function of `module:function` makes."""
    make = cast(Callable[[], Models], typed.load_reference(reference))
    return make()


def stage_config(config: Config, stage: StageName) -> ClusterModelConfig:
    """The section of a stage's processes."""
    match stage:
        case "stt":
            return config.cluster.stt
        case "llm":
            return config.cluster.llm
        case "tts":
            return config.cluster.tts


def own_stages(config: Config) -> tuple[StageName, ...]:
    """Stages whose models have processes of their own."""
    return tuple(stage for stage in STAGES if stage_config(config, stage).replicas)


def engine_limit(config: Config) -> int:
    """Requests that the engine sends one process at a time. More than are ever let in there, so
    that whoever is too many is told so by this program at once, and waits in no queue."""
    serve = config.serve
    return serve.max_sessions + serve.http_workers + serve.http_waiting + REFUSED_AT_ONCE


def target_sessions(config: Config) -> float:
    """Sessions of a process above which another one is started."""
    return config.cluster.target_sessions or max(1.0, 0.75 * config.serve.max_sessions)


def needed_cpus(config: Config) -> float:
    """Cores that all processes set aside."""
    cluster = config.cluster
    models = (stage_config(config, stage) for stage in STAGES)
    return cluster.replicas * cluster.cpus + sum(each.replicas * each.cpus for each in models)


def needed_gpus(config: Config) -> float:
    """Graphics cards that all processes set aside."""
    cluster = config.cluster
    models = (stage_config(config, stage) for stage in STAGES)
    return cluster.replicas * cluster.gpus + sum(each.replicas * each.gpus for each in models)


def check_plan(config: Config) -> None:
    """
    Raises:
        PlanError: settings that a cluster cannot have.
    """
    serve = config.serve
    if serve.secure:
        raise PlanError(
            "serve.tls: a cluster serves http; put what ends https (an ingress, a load balancer) "
            "in front of it, and leave --tls out"
        )
    if config.wyoming.enabled:
        raise PlanError(
            "wyoming.enabled: a cluster has no Wyoming port; run `python -m s2s wyoming` beside it"
        )
    if serve.port == 0:
        raise PlanError("serve.port: 0 takes a free port, and a cluster needs one that is known")
    if serve.codec_stream and config.cluster.tts.replicas:
        raise PlanError(
            "serve.codec_stream: codes come from a voice in the process of sessions; set "
            "cluster.tts.replicas to 0"
        )
