"""The variables that Ray is started with."""

from __future__ import annotations

import shlex

import pytest

from s2s.app.cluster import environment
from s2s.app.cluster.environment import LONGEST_SESSION_S, exports, in_haproxy_mode, variables
from s2s.app.cluster.plan import PlanError
from s2s.config.schema import Config
from s2s.transport.cluster.config import ClusterConfig, Proxy
from s2s.transport.realtime.connection import RealtimeService
from s2s.transport.server.config import ServeConfig


def a_config(proxy: Proxy = "auto", sessions: int = 4) -> Config:
    return Config(
        serve=ServeConfig(max_sessions=sessions), cluster=ClusterConfig(replicas=2, proxy=proxy)
    )


@pytest.fixture(params=[True, False])
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(environment, "haproxy_installed", lambda: request.param)
    return request.param


def test_haproxy_stands_in_front_where_it_is_installed(installed: bool) -> None:
    assert in_haproxy_mode(a_config("auto")) is installed
    assert not in_haproxy_mode(a_config("python"))
    assert variables(a_config())["RAY_SERVE_ENABLE_HA_PROXY"] == str(int(installed))


def test_where_it_is_asked_for_and_lacking_it_is_told_what_to_do(installed: bool) -> None:
    if installed:
        assert in_haproxy_mode(a_config("haproxy"))
        return
    with pytest.raises(PlanError, match=r"cluster\.proxy"):
        variables(a_config("haproxy"))


def test_nothing_is_told_to_others_and_sockets_are_the_applications(installed: bool) -> None:
    found = variables(a_config())
    assert found["RAY_USAGE_STATS_ENABLED"] == "0"
    assert found["RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD"] == "0"


def test_no_conversation_is_cut_by_a_change_of_what_stands_in_front(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(environment, "haproxy_installed", lambda: True)
    found = variables(a_config())
    service = RealtimeService.__dataclass_fields__["max_session_s"]
    assert service.default == LONGEST_SESSION_S
    assert float(found["RAY_SERVE_HAPROXY_HARD_STOP_AFTER_S"]) >= LONGEST_SESSION_S
    assert "503" in found["RAY_SERVE_HAPROXY_RETRY_ON"]


def test_there_is_room_for_every_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "haproxy_installed", lambda: True)
    assert int(variables(a_config(sessions=4))["RAY_SERVE_HAPROXY_MAXCONN"]) == 4096
    assert int(variables(a_config(sessions=5000))["RAY_SERVE_HAPROXY_MAXCONN"]) == 40_000


def test_a_shell_reads_them(installed: bool) -> None:
    lines = exports(a_config()).splitlines()
    read = dict(shlex.split(line)[1].split("=", 1) for line in lines)
    assert read == variables(a_config())
