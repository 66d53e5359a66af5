"""The figures of a cluster on one machine: two processes of sessions, models that cost nothing.

    python -m s2s.bench.cluster
    python -m s2s.bench.cluster --parts latency,killed
    python -m s2s.bench.cluster --rows --picture cluster.png

Clients, engine and processes share this machine, so all of them take from each other.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from s2s.bench.cluster.clients import connected, leave, ways_ms
from s2s.bench.cluster.engine import (
    PORT,
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
from s2s.bench.cluster.rows import ClusterRow, table
from s2s.bench.conditions import Conditions
from s2s.bench.load.run import served
from s2s.core.metrics import percentile
from s2s.transport.cluster.config import Proxy

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

PROCESSES = (1, 2, 4)
SESSIONS = (1, 10, 20, 40)
ROW_S = 4.0
"""How long each row is measured."""
ROW_SETTLE_S = 2.0


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


def measured_rows(proxy: Proxy = "auto") -> list[ClusterRow]:
    """All of them: uvicorn alone first."""
    rows = [_row_alone(sessions) for sessions in SESSIONS]
    alone = {row.sessions: row.p95_ms for row in rows}
    with engine(Wanted(replicas=PROCESSES[0], sessions=max(SESSIONS), proxy=proxy)) as running:
        for processes in PROCESSES:
            if processes != running.wanted.replicas:
                running.deploy(replicas=processes)
            time.sleep(ROW_SETTLE_S)
            rows += [_row(running, sessions, alone[sessions]) for sessions in SESSIONS]
    return rows


def _row_alone(sessions: int) -> ClusterRow:
    with served(max(SESSIONS)) as alone:
        ways, held_mb = asyncio.run(_held(alone.port, sessions, alone.memory_mb))
    p95_ms = percentile(ways, 0.95)
    return ClusterRow(0, sessions, percentile(ways, 0.5), p95_ms, 0.0, held_mb, held_mb)


def _row(running: RunningCluster, sessions: int, alone_ms: float) -> ClusterRow:
    ways, held_mb = asyncio.run(_held(PORT, sessions, memory_mb))
    p95_ms = percentile(ways, 0.95)
    return ClusterRow(
        running.wanted.replicas,
        sessions,
        percentile(ways, 0.5),
        p95_ms,
        p95_ms - alone_ms,
        held_mb,
        memory_mb(replicas()),
    )


async def _held(port: int, sessions: int, memory: Callable[[], float]) -> tuple[list[float], float]:
    talkers = await connected(port, sessions)
    try:
        await ways_ms(talkers, 0.5)
        ways = [way for found in await ways_ms(talkers, ROW_S) for way in found]
        return ways, memory()
    finally:
        await leave(talkers)
