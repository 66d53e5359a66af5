"""The picture of the load benchmark, of one run or of several that were measured one by one.

    python -m s2s.bench.load.picture first.txt second.txt --out load.png

The files hold what the benchmarks printed; their last lines are read.
"""

# pyright: reportUnknownMemberType=false
# Matplotlib's own types leave arguments open.
from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from s2s.bench.entry import existing_file, run_measurement
from s2s.bench.load.rows import AtOnceRow, LoadRow

_rows = TypeAdapter(list[LoadRow])
_talked = TypeAdapter(list[tuple[int, float, int]])
_at_once = TypeAdapter(list[AtOnceRow])


def draw_load(
    path: Path,
    rows: Sequence[LoadRow],
    talked: Sequence[tuple[int, float, int]],
    at_once: Sequence[AtOnceRow] = (),
) -> None:
    """Draw what answers and silent sessions take, by their number, memory by turns, and how long
    several who talk at once wait on real models."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (answers, silent, memory, models) = pyplot.subplots(1, 4, figsize=(15, 3.4))
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
    at = [row.talking for row in at_once]
    models.plot(at, [row.p50_ms for row in at_once], "o-", label="median")
    models.plot(at, [row.most_ms for row in at_once], "o-", label="slowest")
    models.set_title("ms to an answer, real models")
    models.set_xlabel("talking at once")
    models.set_ylim(0)
    models.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what was measured."""
    parser = argparse.ArgumentParser(prog="python -m s2s.bench.load.picture", description=__doc__)
    parser.add_argument("files", nargs="+", type=existing_file)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    rows: list[LoadRow] = []
    talked: list[tuple[int, float, int]] = []
    at_once: list[AtOnceRow] = []
    for file in options.files:
        told = json.loads(file.read_text(encoding="utf-8").strip().splitlines()[-1])
        rows += _rows.validate_python(told.get("rows", []))
        talked += _talked.validate_python(told.get("talked", []))
        at_once += _at_once.validate_python(told.get("at_once", []))
    rows.sort(key=lambda row: row.sessions)
    at_once.sort(key=lambda row: row.talking)
    draw_load(options.out, rows, talked, at_once)
    return 0


if __name__ == "__main__":
    sys.exit(run_measurement(main))
