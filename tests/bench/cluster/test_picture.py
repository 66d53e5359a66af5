"""The picture of a cluster is drawn of what was printed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from s2s.bench.cluster.picture import main
from s2s.bench.cluster.rows import ClusterRow


def test_what_was_measured_is_drawn(tmp_path: Path) -> None:
    rows = [
        ClusterRow(processes, sessions, 0.5, 1.0, 0.0, 100.0 + 400 * processes, 100.0)
        for processes in (0, 1, 2)
        for sessions in (1, 10)
    ]
    told, out = tmp_path / "rows.txt", tmp_path / "cluster.png"
    told.write_text("a table\n" + json.dumps({"rows": [asdict(row) for row in rows]}) + "\n")
    assert main([str(told), "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
