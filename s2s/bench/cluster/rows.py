"""Sessions against processes: what the way adds, and what is held: the table and the picture."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from s2s.bench.cluster.clients import connected, leave, ways_ms
from s2s.bench.cluster.engine import PORT, RunningCluster, Wanted, engine, memory_mb, replicas
from s2s.bench.load.run import served
from s2s.core.metrics import percentile
from s2s.transport.cluster.config import Proxy

PROCESSES = (1, 2, 4)
SESSIONS = (1, 10, 20, 40)
SECONDS = 4.0
SETTLE_S = 2.0


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One number of sessions on one number of processes."""

    processes: int
    """0: uvicorn alone, without an engine."""
    sessions: int
    p50_ms: float
    """Of the way there and back."""
    p95_ms: float
    added_p95_ms: float
    """Against uvicorn alone with as many sessions."""
    memory_mb: float
    """Of the whole cluster, while they are there."""
    replicas_mb: float
    """Of that, the processes of sessions."""


def measured_rows(proxy: Proxy = "auto") -> list[ClusterRow]:
    """All of them: uvicorn alone first."""
    rows = [_row_alone(sessions) for sessions in SESSIONS]
    alone = {row.sessions: row.p95_ms for row in rows}
    with engine(Wanted(replicas=PROCESSES[0], sessions=max(SESSIONS), proxy=proxy)) as running:
        for processes in PROCESSES:
            if processes != running.wanted.replicas:
                running.deploy(replicas=processes)
            time.sleep(SETTLE_S)
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
        ways = [way for found in await ways_ms(talkers, SECONDS) for way in found]
        return ways, memory()
    finally:
        await leave(talkers)


def table(rows: Sequence[ClusterRow]) -> str:
    """As Markdown."""
    lines = [
        "| processes | sessions | there and back, p50 | p95 | added to p95 | memory | of that, "
        "processes of sessions |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        processes = "uvicorn alone" if row.processes == 0 else str(row.processes)
        lines.append(
            f"| {processes} | {row.sessions} | {row.p50_ms:.2f} ms | {row.p95_ms:.2f} ms | "
            f"{row.added_p95_ms:+.2f} ms | {row.memory_mb:.0f} MB | {row.replicas_mb:.0f} MB |"
        )
    return "\n".join(lines)
