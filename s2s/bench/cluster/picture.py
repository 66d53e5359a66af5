"""The picture of a cluster: what the way through the engine adds, and what all of it holds.

    python -m s2s.bench.cluster.picture rows.txt --out cluster.png

The file holds what `python -m s2s.bench.cluster --rows` printed; its last line is read.
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

from s2s.bench.cluster.rows import ClusterRow
from s2s.bench.entry import existing_file, run_measurement

_rows = TypeAdapter(list[ClusterRow])


def draw_cluster(path: Path, rows: Sequence[ClusterRow]) -> None:
    """Draw latency and memory by sessions, a line for each number of processes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (ways, memory) = pyplot.subplots(1, 2, figsize=(10, 3.6))
    for processes in dict.fromkeys(row.processes for row in rows):
        those = [row for row in rows if row.processes == processes]
        sessions = [row.sessions for row in those]
        label = {0: "uvicorn alone", 1: "1 process"}.get(processes, f"{processes} processes")
        ways.plot(sessions, [row.p95_ms for row in those], "o-", label=label)
        memory.plot(sessions, [row.memory_mb for row in those], "o-", label=label)
    ways.set_title("ms there and back, 95 of 100")
    memory.set_title("MB of all processes")
    for axes in (ways, memory):
        axes.set_xlabel("sessions that send sound")
        axes.set_ylim(0)
        axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what was measured."""
    parser = argparse.ArgumentParser(
        prog="python -m s2s.bench.cluster.picture", description=__doc__
    )
    parser.add_argument("file", type=existing_file)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    told = json.loads(options.file.read_text(encoding="utf-8").strip().splitlines()[-1])
    draw_cluster(options.out, _rows.validate_python(told["rows"]))
    return 0


if __name__ == "__main__":
    sys.exit(run_measurement(main))
