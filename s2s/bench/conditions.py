"""What a benchmark ran on and what it cost: part of every figure."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from s2s.system.cpu import cores, cpu_name


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


def resident_memory_mb() -> float:
    """The memory this process holds now, in MB: pages of mapped files that it has read included."""
    status = Path("/proc/self/statm")
    if status.is_file():
        pages = int(status.read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    import psutil

    return psutil.Process().memory_info().rss / 1e6


def temperature_c() -> float | None:
    """The hottest sensor of the processor, in degrees Celsius; None where the system does not
    tell."""
    import psutil

    if not hasattr(psutil, "sensors_temperatures"):
        return None
    sensors = psutil.sensors_temperatures()
    for name in ("coretemp", "k10temp", "cpu_thermal", "acpitz", *sensors):
        found = [each.current for each in sensors.get(name, ()) if each.current]
        if found:
            return max(found)
    return None


@dataclass(frozen=True, slots=True)
class ProcessorTimes:
    """Where the clocks of a machine stand, in seconds."""

    wall_s: float
    own_s: float
    """Used of the processor by this process and by those it started and that are over."""
    all_s: float | None
    """Used of the processor by everybody; None where the system does not tell."""


class Neighbours:
    """What everybody else did to the processor since this was made: a machine that was not idle
    shows in a figure's conditions."""

    def __init__(self, read: Callable[[], ProcessorTimes] | None = None) -> None:
        """read: where the clocks stand; None: those of this machine."""
        self._read = read or processor_times
        self._began = self._read()

    def busy_cores(self) -> float | None:
        """Cores kept busy by others, on average; None where the system does not tell."""
        began, now = self._began, self._read()
        if began.all_s is None or now.all_s is None:
            return None
        own_s = now.own_s - began.own_s
        wall_s = max(now.wall_s - began.wall_s, 1e-3)
        return round(max(now.all_s - began.all_s - own_s, 0.0) / wall_s, 2)


def processor_times() -> ProcessorTimes:
    """Where this machine's clocks stand."""
    return ProcessorTimes(time.perf_counter(), _own_s(), _busy_s())


def _own_s() -> float:
    """Processor seconds of this process and of those it started and that are over."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _busy_s() -> float | None:
    """Processor seconds used on this machine since it started, by anybody; Linux only."""
    path = Path("/proc/stat")
    if not path.is_file():
        return None
    user, nice, system, _idle, _wait, irq, softirq, steal, *_ = (
        int(field) for field in path.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
