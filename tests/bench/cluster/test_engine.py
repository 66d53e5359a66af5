"""The cluster that is measured: what its processes are told, and what is seen of them. No Ray."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil
import pytest

from s2s.bench.cluster import engine
from s2s.bench.cluster.engine import (
    PORT,
    Wanted,
    kill,
    memory_mb,
    processes,
    replicas,
    told_memory,
    wait_until,
)


def test_the_processes_are_told_what_is_wanted() -> None:
    plan = Wanted(replicas=3, sessions=7, voice=True, drain_s=4.0, version="x").plan()
    config = plan.config()
    assert (config.cluster.replicas, config.serve.max_sessions) == (3, 7)
    assert (config.cluster.tts.replicas, config.cluster.drain_s) == (1, 4.0)
    assert (config.serve.port, plan.version) == (PORT, "x")
    assert plan.made_by is not None
    assert not Wanted().config().cluster.tts.replicas


class Process:
    """A process of the cluster."""

    def __init__(self, pid: int, title: str, mb: float) -> None:
        self.pid = pid
        self._title = title
        self._mb = mb

    def cmdline(self) -> list[str]:
        if not self._title:
            raise psutil.NoSuchProcess(self.pid)
        return [self._title]

    def memory_full_info(self) -> object:
        return type("Info", (), {"pss": int(self._mb * 1e6)})()


def test_processes_are_known_by_their_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        Process(1, "ray::ServeReplica:s2s:sessions", 130),
        Process(2, "ray::ServeController", 100),
        Process(3, "ray::ServeReplica:s2s:tts", 90),
        Process(4, "", 0),
    ]
    monkeypatch.setattr(engine, "processes", lambda: found)
    assert replicas() == [1]
    assert replicas("tts") == [3]
    assert memory_mb() == 320
    assert told_memory()[0] == ("ray::ServeReplica:s2s:sessions", 130.0)


def test_its_processes_are_those_under_this_one_and_can_be_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert process.pid in [each.pid for each in processes()]
        assert memory_mb([process.pid]) > 0
        kill(process.pid)
        assert process.wait() != 0
    assert memory_mb([os.getpid()]) > 0


def test_what_does_not_happen_is_not_waited_for() -> None:
    assert wait_until(lambda: True, 1.0, "nothing") >= 0
    with pytest.raises(TimeoutError, match="a new process"):
        wait_until(lambda: False, -1.0, "a new process")
