"""Sessions against processes, as a table."""

from __future__ import annotations

from s2s.bench.cluster.rows import ClusterRow, table

ROWS = (
    ClusterRow(0, 10, 0.5, 1.0, 0.0, 120.0, 120.0),
    ClusterRow(2, 10, 0.6, 1.25, 0.25, 1001.4, 268.0),
)


def test_a_row_a_line_and_what_it_adds() -> None:
    head, rule, alone, two = table(ROWS).splitlines()
    assert head.count("|") == rule.count("|") == alone.count("|") == two.count("|")
    assert alone == "| uvicorn alone | 10 | 0.50 ms | 1.00 ms | +0.00 ms | 120 MB | 120 MB |"
    assert two == "| 2 | 10 | 0.60 ms | 1.25 ms | +0.25 ms | 1001 MB | 268 MB |"
