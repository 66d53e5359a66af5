"""Work tried in a process of its own, with limits on its time and memory."""

from __future__ import annotations

import os
import resource
import traceback
from collections.abc import Callable
from pathlib import Path

CPU_S, MEMORY_BYTES = 20, 512 << 20
"""Far above what the work takes: a busy neighbour makes it cost more of the processor, too."""


def limited(work: Callable[[], object], refused: type[Exception]) -> tuple[str, str]:
    """How ``work`` ends in a forked process: ("works", ""), ("refused", message) for an exception
    of that class, ("raised", traceback) for another, ("signal 11", "") and the like."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _child(work, refused, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}", said
    end, _, text = said.partition("\n")
    return end or "silent", text


def _child(work: Callable[[], object], refused: type[Exception], writer: int) -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
    memory = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        work()
        said = "works\n"
    except refused as error:
        said = f"refused\n{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001 - whatever it is, it is what is looked for
        said = f"raised\n{traceback.format_exc(limit=-6)}"
    os.write(writer, said.encode(errors="replace")[:60_000])
    os._exit(0)
