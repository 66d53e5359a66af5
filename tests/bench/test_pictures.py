"""Pictures of measurements are written for what there is, also for a single point."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.bench.pictures import draw_arrivals, draw_soak
from s2s.bench.synthesis import Arrivals

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("runs", [1, 4])
def test_arrivals_are_drawn(runs: int, tmp_path: Path) -> None:
    made = [Arrivals((0.1 + n / 10, 0.5), (0.4, 0.4)) for n in range(runs)]
    draw_arrivals(tmp_path / "x.png", made, "a title")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("minutes", [[0.5], [0.5, 1.0, 1.5]])
def test_a_soak_is_drawn_with_what_was_moved(minutes: list[float], tmp_path: Path) -> None:
    lines = {"real-time factor": [0.5] * len(minutes), "memory, MB": [300.0] * len(minutes)}
    draw_soak(tmp_path / "x.png", minutes, lines, [(0.5, "codec to onnx", 3.0)], "a title")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
