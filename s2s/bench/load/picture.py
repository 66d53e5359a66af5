"""The picture of the load benchmark."""

# pyright: reportUnknownMemberType=false
# Matplotlib's own types leave arguments open.
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2s.bench.load.run import LoadRow


def draw_load(
    path: Path, rows: Sequence[LoadRow], talked: Sequence[tuple[int, float, int]]
) -> None:
    """Draw what answers and silent sessions take, by their number, and memory by turns."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (answers, silent, memory) = pyplot.subplots(1, 3, figsize=(12, 3.4))
    numbers = [row.sessions for row in rows]
    answers.plot(numbers, [row.p50_ms for row in rows], "o-", label="median")
    answers.plot(numbers, [row.p95_ms for row in rows], "o-", label="95 of 100")
    answers.set_title("ms from the end of a turn to its answer")
    answers.set_ylim(0)
    answers.legend()
    silent.plot(numbers, [100 * row.silent_cpu for row in rows], "o-", label="% of a core")
    silent.plot(numbers, [row.silent_mb for row in rows], "o-", label="MB")
    silent.set_title("one silent session takes")
    silent.set_ylim(0)
    silent.legend()
    for axes in (answers, silent):
        axes.set_xlabel("sessions, a tenth talks" if axes is answers else "sessions")
    memory.plot([turns for turns, _, _ in talked], [held for _, held, _ in talked], "o-")
    memory.set_title("MB of the server, one session")
    memory.set_xlabel("typed turns")
    memory.set_ylim(0)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    pyplot.close(figure)
