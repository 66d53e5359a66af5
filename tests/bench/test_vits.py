"""The benchmark of Piper voices: sums of a run, and an engine in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from s2s.bench.vits import EngineProcess, EngineRow, EngineRun, measure, print_table
from tests.support.vits import voice_folder

HZ = 1000


def test_the_sums_of_an_utterance() -> None:
    run = EngineRun([(0.1, 500), (0.3, 500), (1.5, 1000)], 42.0)
    assert run.first_ms == pytest.approx(100.0)
    assert run.seconds(HZ) == 2.0
    assert run.rtf(HZ) == pytest.approx(0.75)
    assert run.late_ms(HZ) == pytest.approx(400.0)  # the last comes at 1.5, due at 1.1
    assert EngineRun([(0.1, 500)], 1.0).late_ms(HZ) == 0.0


def test_a_row_has_medians(capsys: pytest.CaptureFixture[str]) -> None:
    row = EngineRow("s2s", 1, "short", [EngineRun([(at, 1000)], 9.0) for at in (0.1, 0.2, 0.9)])
    figures = row.figures(HZ)
    assert (figures["ttfa_ms"], figures["ttfa_min_ms"], figures["speech_s"]) == (200.0, 100.0, 1.0)
    print_table([figures])
    assert "s2s" in capsys.readouterr().out


def test_engines_speak_in_processes_of_their_own(tmp_path: Path) -> None:
    model = next(voice_folder(tmp_path, "plain").glob("*.onnx"))
    worker = EngineProcess.start("s2s", sys.executable, model, 1)
    try:
        found = measure([worker], {"short": [1, 0, 5, 0, 9, 0, 2]}, 2)
    finally:
        worker.stop()
    (row,) = found.values()
    assert len(row.runs) == 2
    assert len({run.seconds(HZ) for run in row.runs}) <= 2
    assert all(run.arrivals and run.peak_mb >= 0 for run in row.runs)
    assert worker.process.returncode == 0


def test_an_engine_that_cannot_start_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="s2s ended with"):
        EngineProcess.start("s2s", sys.executable, tmp_path / "none.onnx", 1)
