"""The benchmark of calls makes its calls; how much they take is not looked at."""

from __future__ import annotations

import json

import pytest


def test_calls_are_made_and_their_cost_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("aiortc")
    from s2s.bench.load import calls

    assert calls.main(["--calls", "2", "--seconds", "0.2"]) == 0
    *table, line = capsys.readouterr().out.strip().splitlines()
    assert [row[:16].strip() for row in table[1:]] == [
        "server alone",
        "silent calls",
        "answering calls",
    ]
    told = json.loads(line)
    assert told["calls"] == 2
    assert all(value >= 0 for value in told["percent"].values())
