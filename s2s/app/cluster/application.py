"""The application of Ray Serve: which deployments there are, and what each is given.

`build` is what a `serve.yaml` names (`contrib/cluster/serve.yaml`); the command `cluster` uses the
same. Ray is imported when something is built, not before.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from s2s.app.cluster.model_replica import AnsweringReplica, HearingReplica, SpeakingReplica
from s2s.app.cluster.plan import (
    AFTER_DRAIN_S,
    ClusterPlan,
    PlanError,
    StageName,
    check_plan,
    engine_limit,
    own_stages,
    plan_of,
    stage_config,
    target_sessions,
)
from s2s.app.cluster.remote_models import ModelHandles
from s2s.app.cluster.replica import SessionProcess
from s2s.config import loader, typed
from s2s.config.schema import Config
from s2s.core.untyped import is_mapping
from s2s.transport.cluster.replica_sockets import App
from s2s.transport.server.access import Access

if TYPE_CHECKING:
    from ray.serve import Application
    from ray.serve.handle import DeploymentHandle

NAME = "s2s"
"""Of the application."""
SESSIONS = "sessions"
"""Name of the deployment of sessions; those of models are called stt, llm and tts."""

HEALTH_PERIOD_S = 1.0
"""A process that was killed is missed within so long."""
HEALTH_TIMEOUT_S = 30.0
"""One that says nothing for so long is replaced: models that compute may hold it up for seconds."""
LOOP_S = 0.5
"""Between two looks of the engine whether a process that ends still has clients."""

_MODELS: dict[StageName, type] = {
    "stt": HearingReplica,
    "llm": AnsweringReplica,
    "tts": SpeakingReplica,
}


class RayHandle:
    """The processes of one model, as Ray Serve reaches them."""

    def __init__(self, handle: DeploymentHandle) -> None:
        self._handle = handle

    async def ask(self, method: str, *given: object) -> AsyncGenerator[object]:
        """See `ModelHandle`."""
        answer = self._handle.options(stream=True, method_name=method).remote(*given)
        try:
            async for item in answer:
                yield item
        finally:
            answer.cancel()


class SessionReplica:
    """The deployment of sessions."""

    def __init__(self, plan: ClusterPlan, **handles: DeploymentHandle) -> None:
        asked = {stage: RayHandle(handle) for stage, handle in handles.items()}
        self._process = SessionProcess(plan, ModelHandles(**asked), replica_ends)

    async def __serve_build_asgi_app__(self) -> App:
        """What Serve serves."""
        return await self._process.begin()

    def check_health(self) -> None:
        """Serve replaces the process where this raises."""
        self._process.check()

    def __del__(self) -> None:
        self._process.end()


def replica_ends() -> bool:
    """Serve has decided that this process ends. Asked where Python's proxy stands in front, and the
    process has no socket that tells: there Serve has no public word for it."""
    from ray._private.worker import global_worker

    with suppress(AttributeError, KeyError):
        actor = global_worker.actors[global_worker.actor_id]
        return bool(actor._replica_impl._shutting_down)
    return False


def application(plan: ClusterPlan) -> Application:
    """The application of a plan."""
    from ray import serve

    config = plan.config()
    models = {stage: _model(config, plan, stage) for stage in own_stages(config)}
    deployment = serve.deployment(serve.ingress()(SessionReplica))
    return deployment.options(**session_options(config)).bind(plan, **models)


def _model(config: Config, plan: ClusterPlan, stage: StageName) -> Application:
    from ray import serve

    return serve.deployment(_MODELS[stage]).options(**model_options(config, stage)).bind(plan)


def session_options(config: Config) -> dict[str, object]:
    """Options of the deployment of sessions."""
    cluster = config.cluster
    options: dict[str, object] = {
        "name": SESSIONS,
        "max_ongoing_requests": engine_limit(config),
        "graceful_shutdown_timeout_s": cluster.drain_s + AFTER_DRAIN_S,
        "ray_actor_options": {"num_cpus": cluster.cpus, "num_gpus": cluster.gpus},
    }
    if cluster.max_replicas is None:
        options["num_replicas"] = cluster.replicas
    else:
        options["autoscaling_config"] = {
            "min_replicas": cluster.replicas,
            "max_replicas": cluster.max_replicas,
            "target_ongoing_requests": target_sessions(config),
            "downscale_delay_s": cluster.scale_down_s,
            "upscale_delay_s": 5.0,
        }
    return options | _watched()


def model_options(config: Config, stage: StageName) -> dict[str, object]:
    """Options of a stage's deployment."""
    model = stage_config(config, stage)
    return {
        "name": stage,
        "num_replicas": model.replicas,
        "max_ongoing_requests": model.at_once,
        "max_queued_requests": model.waiting,
        "graceful_shutdown_timeout_s": config.cluster.drain_s,
        "ray_actor_options": {"num_cpus": model.cpus, "num_gpus": model.gpus},
    } | _watched()


def _watched() -> dict[str, object]:
    return {
        "health_check_period_s": HEALTH_PERIOD_S,
        "health_check_timeout_s": HEALTH_TIMEOUT_S,
        "graceful_shutdown_wait_loop_s": LOOP_S,
        "logging_config": {"enable_access_log": False, "log_level": "WARNING"},
    }


def build(arguments: Mapping[str, object]) -> Application:
    """The application of a `serve.yaml`.

    Args:
        arguments: `settings`, sections as in a file of settings; or `config`, the path of such a
            file, and `profile`. `version`: another text replaces every process.

    Raises:
        PlanError, SettingError, RegistryError, ValueError: it cannot be, and what to do.
    """
    config = settings_of(arguments)
    check_plan(config)
    key = os.environ.get(config.serve.api_key_env)
    Access.of(config.serve, key or None)
    return application(plan_of(config, needs_key=bool(key), version=_text(arguments, "version")))


def settings_of(arguments: Mapping[str, object]) -> Config:
    """The settings that the arguments of a `serve.yaml` give.

    Raises:
        PlanError, SettingError, RegistryError: they cannot be read.
    """
    unknown = set(arguments) - {"settings", "config", "profile", "version"}
    if unknown:
        raise PlanError(
            f"serve.yaml: args has no {', '.join(sorted(unknown))}; it may have settings, config, "
            "profile and version"
        )
    profile, file = _text(arguments, "profile"), _text(arguments, "config")
    settings = arguments.get("settings", {})
    if not is_mapping(settings):
        raise PlanError(f"serve.yaml: args.settings must hold sections, got {settings!r}")
    below = loader.lower_layers(profile or None, file or None)
    return loader.from_tree(loader.laid_over(below, typed.tree(settings, "serve.yaml")))


def _text(arguments: Mapping[str, object], name: str) -> str:
    value = arguments.get(name, "")
    if not isinstance(value, str):
        raise PlanError(f"serve.yaml: args.{name} must be text, got {value!r}")
    return value
