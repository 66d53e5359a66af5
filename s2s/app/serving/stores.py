"""Where conversations are kept for their clients' return, as the settings say."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping

from s2s.transport.server.config import ServeConfig
from s2s.transport.server.kept.store import ConversationStore


class StoreUnavailable(ValueError):
    """The settings name a place that cannot be. The message says what to do."""


def make_store(
    settings: ServeConfig,
    *,
    clustered: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> ConversationStore | None:
    """The place; None where each conversation is kept in its process alone.

    Args:
        settings: of the server.
        clustered: it is a replica of `cluster`.
        environment: where the address of Redis is.

    Raises:
        StoreUnavailable: it cannot be.
    """
    match settings.resume_store:
        case "auto" if clustered:
            return _ray()
        case "auto" | "process":
            return None
        case "ray" if not clustered:
            raise StoreUnavailable(
                "serve.resume_store: ray is an actor of a cluster, and this is one server; start "
                "it by `python -m s2s cluster`, or set it to redis or process"
            )
        case "ray":
            return _ray()
        case "redis":
            return _redis(settings.redis_url_env, environment)


def _ray() -> ConversationStore:
    from s2s.transport.server.kept.ray_store import RayStore

    return RayStore()


def _redis(variable: str, environment: Mapping[str, str]) -> ConversationStore:
    if importlib.util.find_spec("redis") is None:
        raise StoreUnavailable(
            "serve.resume_store: redis needs its library. Install it: pip install 's2s[redis]'"
        )
    url = environment.get(variable)
    if not url:
        raise StoreUnavailable(
            f"serve.resume_store: redis needs the environment variable {variable} with its "
            "address, such as redis://localhost:6379/0"
        )
    from s2s.transport.server.kept.redis_store import RedisStore

    try:
        return RedisStore.at(url)
    except ValueError as error:
        raise StoreUnavailable(f"{variable}: {error}") from None
