"""What the load benchmarks tell of each number of sessions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoadRow:
    """What so many sessions took."""

    sessions: int
    talking: int
    answers: int
    p50_ms: float
    p95_ms: float
    added_p95_ms: float
    """More than with one session alone."""
    silent_cpu: float
    """Share of a core that one silent session takes."""
    silent_mb: float
    """Memory of one silent session."""
    threads: float
    """Of one session."""
    server_cpu: float
    """Cores that the server took while a tenth talked."""
    errors: int


@dataclass(frozen=True, slots=True)
class AtOnceRow:
    """What so many who talk at once got."""

    talking: int
    answers: int
    p50_ms: float
    most_ms: float
    gaps: int
    """Answers with a silence inside."""
    missing: int
    cores: float
    """That the server took."""
