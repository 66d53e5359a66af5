"""The benchmark of the wire holds its conversation; how long anything takes is not looked at."""

from __future__ import annotations

import json

import pytest

from s2s.bench.load import wire


@pytest.mark.parametrize("beside", [[], ["--call"]])
def test_a_round_is_timed_from_the_voice_and_from_the_decision(
    beside: list[str], capsys: pytest.CaptureFixture[str]
):
    if beside:
        pytest.importorskip("aiortc")
    assert wire.main(["--rounds", "1", *beside]) == 0
    *table, line = capsys.readouterr().out.strip().splitlines()
    assert [row.split("  ")[0] for row in table[1:]] == [
        "first sound behind its chunk",
        "last sound behind a decision",
    ]
    figures = json.loads(line)["ms"]
    assert all(len(values) == 1 and values[0] >= 0 for values in figures.values())
