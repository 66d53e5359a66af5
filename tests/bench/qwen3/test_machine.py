"""What a machine can do at most."""

from __future__ import annotations

import subprocess
import sys

import pytest

from s2s.bench.qwen3.machine import MachineLimits, measure_limits


def test_times_follow_from_the_nearest_size() -> None:
    limits = MachineLimits(2, {240: 40.0, 16: 80.0}, 200.0)
    assert limits.read_ms(260) == pytest.approx(6.5)
    assert limits.read_ms(20) == pytest.approx(0.25)
    assert limits.computed_ms(4.0) == pytest.approx(20.0)


def test_numpy_must_compute_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with pytest.raises(RuntimeError, match="set OPENBLAS_NUM_THREADS=1"):
        measure_limits(1, (1,))


def test_both_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    code = (
        "from s2s.bench.qwen3 import machine as limits; limits.RUNS = 1; limits.LEAST_BYTES = 1; "
        "limits.MATRIX = 256; print(limits.measure_limits(2, (1, 4)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    found = eval(said, {"MachineLimits": MachineLimits})
    assert found.threads == 2
    assert set(found.read_gb_s) == {1, 4}
    assert min(found.read_gb_s.values()) > 0
    assert found.float32_gflop_s > 0
