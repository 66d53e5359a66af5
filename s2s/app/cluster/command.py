"""The command `cluster`: starts Ray where none runs, and the processes; ends both with itself."""

from __future__ import annotations

import importlib.util
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console

from s2s.app.cluster.environment import in_haproxy_mode, variables
from s2s.app.cluster.plan import (
    check_plan,
    needed_cpus,
    needed_gpus,
    own_stages,
    plan_of,
    stage_config,
)
from s2s.app.recording import check_recordable
from s2s.app.serving.command import check_codes, check_installed
from s2s.app.signals import handled
from s2s.config.schema import Config


class ClusterUnavailable(RuntimeError):
    """The cluster cannot be started. The message says what to do."""


def cluster(config: Config) -> int:
    """Run until Ctrl-C, or, on a Ray cluster that runs, until the processes are there. What clients
    must send is the key in the environment: every process reads it there.

    Raises:
        ClusterUnavailable, ServeUnavailable, PlanError, ValueError: it cannot be; told before
            anything is started.
    """
    check(config)
    console = Console(highlight=False)
    started_s = time.perf_counter()
    stopped = threading.Event()
    with handled() as signals, running_ray(config), signals.ending(stopped.set):
        check_room(config)
        deploy(config)
        tell(console, config, time.perf_counter() - started_s)
        if config.cluster.address is not None:
            return 0
        stopped.wait()
        console.print("Ends: answers that are being given are finished first.")
    return 0


def check(config: Config) -> None:
    """
    Raises:
        ClusterUnavailable, ServeUnavailable, PlanError, ValueError: it cannot be, and why.
    """
    if importlib.util.find_spec("ray") is None:
        raise ClusterUnavailable("cluster needs Ray. Install it: pip install 's2s[cluster]'")
    check_installed()
    from s2s.transport.server.access import Access

    Access.of(config.serve, os.environ.get(config.serve.api_key_env) or None)
    check_recordable(config)
    check_codes(config)
    check_plan(config)
    in_haproxy_mode(config)


@contextmanager
def running_ray(config: Config) -> Generator[None]:
    """Inside there is a Ray cluster with Serve on it; one that was started here ends with it.

    Raises:
        ClusterUnavailable: there is none at the address, or the port is taken.
    """
    os.environ.update(variables(config))
    import ray
    from ray import serve

    address = config.cluster.address
    try:
        ray.init(
            address="local" if address is None else address,
            include_dashboard=False if address is None else None,
            log_to_driver=False,
            logging_level="error",
        )
    except Exception as error:  # of Ray's, which raises a plain one where it took over 30 s
        what = (
            "Start it there (`ray start --head`), or leave cluster.address out."
            if address is not None
            else "Its logs are in /tmp/ray/session_latest/logs; a machine that is very busy starts "
            "it too late: try again."
        )
        raise ClusterUnavailable(
            f"Ray did not start at {address or 'this machine'} ({error}). {what}"
        ) from error
    try:
        yield
        if address is None:
            serve.shutdown()
    finally:
        ray.shutdown()


def check_room(config: Config) -> None:
    """What is set aside is there.

    Raises:
        ClusterUnavailable: it is not, on a cluster that does not grow.
    """
    import ray

    have = ray.cluster_resources()
    cpus, gpus = have.get("CPU", 0.0), have.get("GPU", 0.0)
    if config.cluster.address is None and (
        needed_cpus(config) > cpus or needed_gpus(config) > gpus
    ):
        raise ClusterUnavailable(
            f"{told_processes(config)} set aside {needed_cpus(config):g} cores and "
            f"{needed_gpus(config):g} graphics cards; this machine has {cpus:g} and {gpus:g}. Set "
            "aside less (cluster.cpus, cluster.gpus, and those of cluster.stt, llm, tts: shares "
            "such as 0.5 will do), or have fewer processes."
        )


def deploy(config: Config) -> None:
    """Start the processes, or replace those that run one after the other; returns when all
    answer.

    Raises:
        ClusterUnavailable: they do not come up.
    """
    from ray import serve

    from s2s.app.cluster.application import NAME, application

    key = os.environ.get(config.serve.api_key_env)
    plan = plan_of(config, needs_key=bool(key))
    http = {"host": config.serve.host, "port": config.serve.port}
    try:
        serve.start(proxy_location="EveryNode", http_options=http)
        serve.run(application(plan), name=NAME, route_prefix="/")
    except (RuntimeError, TimeoutError) as error:
        raise ClusterUnavailable(
            f"the processes did not come up ({error}). Their logs are in "
            "/tmp/ray/session_latest/logs/serve on their machine."
        ) from error


def told_processes(config: Config) -> str:
    """How many of which there are, in words."""
    models = [f"{stage_config(config, stage).replicas} of {stage}" for stage in own_stages(config)]
    return ", ".join([f"{config.cluster.replicas} processes of sessions", *models])


def tell(console: Console, config: Config, took_s: float) -> None:
    """Say where it is."""
    serve, cluster = config.serve, config.cluster
    places = cluster.replicas * serve.max_sessions
    front = "HAProxy" if in_haproxy_mode(config) else "Ray's proxy"
    here = "localhost" if serve.host in ("0.0.0.0", "::", "", "127.0.0.1") else serve.host
    ends = "`serve shutdown` ends it." if cluster.address is not None else "Ctrl-C ends it."
    lines = (
        f"Ready after {took_s:.1f} s: http://{here}:{serve.port}/",
        f"{told_processes(config)}, {places} conversations at a time, behind {front}; {ends}",
    )
    console.print("\n".join(lines), markup=False, soft_wrap=True)
