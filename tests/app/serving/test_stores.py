"""The place that settings name."""

from __future__ import annotations

import asyncio
import re

import pytest

from s2s.app.serving.stores import StoreUnavailable, make_store
from s2s.config import loader
from s2s.config.schema import Config
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.kept.ray_store import RayStore
from s2s.transport.server.kept.redis_store import RedisStore

URL = "redis://:secret@example.org:1234/0"


def test_one_server_keeps_conversations_itself_and_a_cluster_in_its_actor():
    assert make_store(ServeConfig()) is None
    assert make_store(ServeConfig(resume_store="process"), clustered=True) is None
    assert isinstance(make_store(ServeConfig(), clustered=True), RayStore)
    assert isinstance(make_store(ServeConfig(resume_store="ray"), clustered=True), RayStore)


def test_redis_is_found_by_the_variable_of_the_settings():
    settings = ServeConfig(resume_store="redis", redis_url_env="WHERE")
    store = make_store(settings, environment={"WHERE": URL})
    assert isinstance(store, RedisStore)
    asyncio.run(store.close())


@pytest.mark.parametrize(
    ("settings", "environment", "told"),
    [
        (ServeConfig(resume_store="ray"), {}, "python -m s2s cluster"),
        (ServeConfig(resume_store="redis"), {}, "S2S_REDIS_URL"),
        (ServeConfig(resume_store="redis"), {"S2S_REDIS_URL": "http://:secret@x"}, "redis://"),
    ],
)
def test_what_cannot_be_is_told_with_what_to_do(
    settings: ServeConfig, environment: dict[str, str], told: str
):
    with pytest.raises(StoreUnavailable, match=re.escape(told)) as caught:
        make_store(settings, environment=environment)
    assert "secret" not in str(caught.value)


def test_the_variable_is_none_of_a_setting():
    config = loader.load(environment={Config().serve.redis_url_env: URL})
    assert "secret" not in repr(config)
