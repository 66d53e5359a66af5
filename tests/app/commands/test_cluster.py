"""The command `cluster`: its flags reach its work."""

from __future__ import annotations

import pytest

from s2s.app import cli
from s2s.app.cluster import command
from s2s.app.cluster.environment import exports
from s2s.config.schema import Config

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_what_was_given_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Config] = []

    def cluster(config: Config) -> int:
        started.append(config)
        return 0

    monkeypatch.setattr(command, "cluster", cluster)
    flags = ["--replicas", "3", "--max-sessions", "9", "--port", "9000", "--address", "auto"]
    assert cli.main(["cluster", *flags, "--host", "0.0.0.0", "--insecure"]) == 0
    assert cli.main(["cluster", "--cluster.drain_s", "5"]) == 0
    first, second = started
    assert (first.cluster.replicas, first.cluster.address) == (3, "auto")
    assert (first.serve.max_sessions, first.serve.port) == (9, 9000)
    assert (first.serve.host, first.serve.insecure) == ("0.0.0.0", True)
    assert (second.cluster.drain_s, second.cluster.address) == (5.0, None)


def test_the_variables_are_printed_and_nothing_is_started(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["cluster", "--environment", "--port", "9000"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("export ")
    assert set(printed.splitlines()) >= {"export RAY_USAGE_STATS_ENABLED='0'"}
    assert len(printed.splitlines()) == len(exports(Config()).splitlines())
