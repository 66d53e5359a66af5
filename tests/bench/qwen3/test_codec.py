"""The benchmark of the codec decoder: a dry run measures every device and checks its splits."""

from __future__ import annotations

import json
import sys

import pytest

from s2s.bench.qwen3 import codec


def test_a_row_is_milliseconds_a_frame() -> None:
    row = codec.row("onnx", 1, 2, [10.0, 20.0, 30.0], [8.0, 8.0, 8.0])
    assert (row.p50_ms, row.p95_ms, row.cpu_ms) == (20.0, 29.0, 8.0)
    assert row.rtf == pytest.approx(20.0 / 80.0)


def test_a_dry_run_measures_and_finds_every_split_exact(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["x", "--tiny", "--threads", "1", "--frames", "1", "2", "--runs", "2"]
    monkeypatch.setattr(sys, "argv", arguments)
    codec.main()
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(row["device"], row["frames"]) for row in report["rows"]] == [("onnx", 1), ("onnx", 2)]
    assert report["weights"] == "random"
    assert report["streaming_snr_db"]["onnx"] > 80
    assert all(0 < row["p50_ms"] <= row["p95_ms"] for row in report["rows"])
