"""What is told of a cluster, by sessions and processes: what the way adds, and what is held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
