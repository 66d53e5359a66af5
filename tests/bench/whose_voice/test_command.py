"""What is told of the cases: rates by kind and SNR, and their intervals."""

from __future__ import annotations

import pytest

from s2s.bench.whose_voice.command import report, wilson
from s2s.bench.whose_voice.conversations import CaseResult


def result(kind: str, *, right: bool, counted: bool = True, snr_db: int = 5) -> CaseResult:
    return CaseResult(kind, "anna", "otto", snr_db, True, right, "", 100.0, counted, 2.0)


def test_the_report_counts_what_was_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [result("own", right=True), result("own", right=False), result("other", right=True)]
    found = report([*rows, result("own", right=False, counted=False)])
    told = capsys.readouterr().out
    assert found["cost_ms_median"] == 2.0
    sums = {name: value for name, value in found.items() if isinstance(value, dict)}
    assert any(value["wrong"] == 1 and value["of"] == 2 for value in sums.values())
    assert all(value["of"] <= 2 for name, value in sums.items() if "own" in name)
    assert "wrong" in told


def test_an_interval_holds_the_rate() -> None:
    for wrong, count in ((0, 10), (3, 10), (10, 10)):
        low, high = wilson(wrong, count)
        assert 0 <= low <= wrong / count <= high <= 1
