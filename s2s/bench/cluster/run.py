"""The figures of a cluster on one machine: two processes of sessions, models that cost nothing.

    python -m s2s.bench.cluster
    python -m s2s.bench.cluster --parts latency,killed
    python -m s2s.bench.cluster --rows --picture cluster.png

Clients, engine and processes share this machine, so all of them take from each other.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from s2s.bench.cluster.engine import (
    RunningCluster,
    Wanted,
    engine,
    memory_mb,
    replicas,
    told_memory,
)
from s2s.bench.cluster.fakes import WITH_SLOW_VOICE
from s2s.bench.cluster.parts import (
    Figure,
    Part,
    admission,
    connections,
    killed,
    latency,
    redeployed,
    voice_killed,
)
from s2s.bench.cluster.rows import measured_rows, table
from s2s.bench.conditions import Conditions

PARTS: dict[str, Part] = {
    "latency": latency,
    "admission": admission,
    "connections": connections,
    "killed": killed,
    "redeployed": redeployed,
    "voice": voice_killed,
}
"""In the order in which they are measured on one cluster."""
SETTLE_S = 5.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table and one JSON line."""
    parser = argparse.ArgumentParser(
        prog="python -m s2s.bench.cluster", description="the figures of a cluster"
    )
    parser.add_argument("--parts", default=",".join(PARTS), help="default: %(default)s")
    parser.add_argument("--proxy", choices=("auto", "haproxy", "python"), default="auto")
    parser.add_argument("--rows", action="store_true", help="sessions against processes instead")
    parser.add_argument("--picture", type=Path, help="of the rows")
    parser.add_argument("--memory", action="store_true", help="tell what each process holds")
    options = parser.parse_args(arguments)
    told: dict[str, object] = {"conditions": asdict(Conditions.here())}
    held = True
    if options.rows:
        rows = measured_rows(options.proxy)
        print(table(rows))
        told["rows"] = [asdict(row) for row in rows]
        if options.picture is not None:
            from s2s.bench.cluster.picture import draw_cluster

            draw_cluster(options.picture, rows)
    else:
        wanted = Wanted(proxy=options.proxy)
        figures = measured(wanted, options.parts.split(","), memory=options.memory)
        told["figures"] = [asdict(each) for each in figures]
        held = all(each.held for each in figures)
    print(json.dumps(told))
    return 0 if held else 1


def measured(wanted: Wanted, parts: Sequence[str], *, memory: bool = False) -> list[Figure]:
    """The figures, printed as they come."""
    figures: list[Figure] = []

    def tell(found: Sequence[Figure]) -> None:
        for each in found:
            print(each.line(), flush=True)
        figures.extend(found)

    began_s = time.perf_counter()
    with engine(wanted) as running:
        started_s = time.perf_counter() - began_s
        tell([Figure("cold start, until all processes serve", started_s, 25, "s")])
        time.sleep(SETTLE_S)
        note = f"its {len(replicas())} processes of sessions {memory_mb(replicas()):.0f}"
        tell([Figure("memory of the whole cluster, idle (PSS)", memory_mb(), 1100, "MB", note)])
        if memory:
            print("\n".join(f"    {mb:7.1f} MB  {name}" for name, mb in told_memory()))
        for name in parts:
            _prepared(running, name)
            began_s = time.perf_counter()
            tell(PARTS[name](running))
            print(f"    {name}: {time.perf_counter() - began_s:.0f} s", flush=True)
    return figures


def _prepared(running: RunningCluster, part: str) -> None:
    """The processes as a part needs them."""
    if part == "redeployed":
        running.deploy(made_by=WITH_SLOW_VOICE)
    elif part == "voice":
        running.deploy(made_by=WITH_SLOW_VOICE, voice=True)


if __name__ == "__main__":
    sys.exit(main())
