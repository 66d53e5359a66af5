"""The cluster that is measured: started in this process, on fakes, and ended with it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import psutil

from s2s.app.cluster.application import NAME, SESSIONS, application
from s2s.app.cluster.command import running_ray
from s2s.app.cluster.plan import ClusterPlan
from s2s.bench.cluster.fakes import AT_ONCE
from s2s.config import loader
from s2s.config.schema import Config
from s2s.transport.cluster.config import ClusterConfig, ClusterModelConfig, Proxy
from s2s.transport.server.config import ServeConfig

PORT = 18_765
CPUS = 0.2
"""Set aside for each process: on two cores there is room for what is measured."""
WATCH_S = 0.05


@dataclass(frozen=True, slots=True)
class Wanted:
    """A cluster to be measured."""

    replicas: int = 2
    sessions: int = 12
    """Places of each."""
    proxy: Proxy = "auto"
    voice: bool = False
    """The voice has a process of its own."""
    drain_s: float = 30.0
    made_by: str = AT_ONCE
    version: str = "1"

    def config(self) -> Config:
        """Its settings."""
        voice = ClusterModelConfig(replicas=1, cpus=CPUS, at_once=8) if self.voice else None
        cluster = ClusterConfig(
            replicas=self.replicas,
            cpus=CPUS,
            drain_s=self.drain_s,
            proxy=self.proxy,
            tts=voice or ClusterModelConfig(),
        )
        serve = ServeConfig(port=PORT, max_sessions=self.sessions, max_events_per_s=1e6)
        return Config(serve=serve, cluster=cluster)

    def plan(self) -> ClusterPlan:
        """What its processes are told."""
        settings = loader.as_dict(self.config())
        return ClusterPlan(settings, made_by=self.made_by, version=self.version)


class RunningCluster:
    """A running cluster."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted

    def deploy(self, **changes: object) -> float:
        """Start the processes, or replace them; the seconds it took."""
        from ray import serve

        self.wanted = replace(self.wanted, **changes)  # pyright: ignore[reportArgumentType]
        began_s = time.perf_counter()
        serve.run(application(self.wanted.plan()), name=NAME, route_prefix="/")
        return time.perf_counter() - began_s

    def begin(self) -> None:
        """Serve, with the first processes."""
        from ray import serve

        http = {"host": "127.0.0.1", "port": PORT}
        serve.start(proxy_location="EveryNode", http_options=http)
        self.deploy()

    def running(self, deployment: str = SESSIONS) -> int:
        """Processes of it that serve, as the engine sees it."""
        from ray import serve

        found = serve.status().applications[NAME].deployments[deployment]
        return sum(
            count for state, count in found.replica_states.items() if str(state) == "RUNNING"
        )


@contextmanager
def engine(wanted: Wanted) -> Generator[RunningCluster]:
    """Inside there is a cluster."""
    with running_ray(wanted.config()):
        made = RunningCluster(wanted)
        made.begin()
        yield made


def processes() -> list[psutil.Process]:
    """All that was started under this one."""
    return psutil.Process().children(recursive=True)


def replicas(deployment: str = SESSIONS) -> list[int]:
    """Process ids of a deployment."""
    found: list[int] = []
    for process in processes():
        with suppress(psutil.Error):
            title = " ".join(process.cmdline())
            if title.startswith("ray::") and f"ServeReplica:{NAME}:{deployment}" in title:
                found.append(process.pid)
    return found


def memory_mb(pids: list[int] | None = None) -> float:
    """What those processes hold, shared pages counted once (PSS); None: all of the cluster."""
    total = 0
    for process in processes() if pids is None else [psutil.Process(pid) for pid in pids]:
        with suppress(psutil.Error):
            total += process.memory_full_info().pss
    return total / 1e6


def told_memory() -> list[tuple[str, float]]:
    """(what it is, MB) of each process of the cluster."""
    told: list[tuple[str, float]] = []
    for process in processes():
        with suppress(psutil.Error):
            name = " ".join(process.cmdline())[:60]
            told.append((name, process.memory_full_info().pss / 1e6))
    return sorted(told, key=lambda each: -each[1])


def kill(pid: int) -> None:
    """As if the process had crashed."""
    os.kill(pid, signal.SIGKILL)


def wait_until(happened: Callable[[], bool], most_s: float, what: str) -> float:
    """The seconds until it has happened.

    Raises:
        TimeoutError: it has not.
    """
    began_s = time.perf_counter()
    while not happened():
        if time.perf_counter() - began_s > most_s:
            raise TimeoutError(f"{what}: not within {most_s:g} s")
        time.sleep(WATCH_S)
    return time.perf_counter() - began_s
