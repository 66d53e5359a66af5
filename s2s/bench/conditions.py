"""What a benchmark ran on and what it cost: part of every figure."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from s2s.runtime import cores


@dataclass(frozen=True, slots=True)
class Conditions:
    """Goes into every JSON line."""

    cpu: str
    cores: int
    system: str
    python: str
    commit: str

    @classmethod
    def here(cls) -> Conditions:
        """This machine and this checkout."""
        system = f"{platform.system()} {platform.machine()}"
        return cls(cpu_name(), cores(), system, platform.python_version(), commit())


def cpu_name() -> str:
    """The processor, as the system names it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def commit() -> str:
    """The commit of the checkout, "" outside of one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def peak_memory_mb() -> float:
    """The most memory this process held so far, in MB."""
    if sys.platform == "win32":
        import psutil

        return psutil.Process().memory_info().peak_wset / 1e6
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
