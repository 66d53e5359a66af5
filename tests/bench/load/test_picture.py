"""The picture of the load benchmark is drawn of whatever was measured."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from s2s.bench.load.at_once import AtOnceRow
from s2s.bench.load.picture import draw_load, main
from s2s.bench.load.run import LoadRow

ONE = LoadRow(1, 1, 9, 1.0, 2.0, 0.0, 0.01, 0.5, 5.0, 0.1, 0)
TEN = replace(ONE, sessions=10, p50_ms=3.0, p95_ms=9.0, added_p95_ms=7.0)


def drawn(path: Path, rows: list[LoadRow], talked: list[tuple[int, float, int]]) -> bytes:
    draw_load(path / "load.png", rows, talked)
    return (path / "load.png").read_bytes()


def test_each_number_can_be_seen(tmp_path: Path) -> None:
    talked = [(10, 80.0, 9), (20, 81.0, 9)]
    first = drawn(tmp_path, [ONE, TEN], talked)
    assert first.startswith(b"\x89PNG")
    assert drawn(tmp_path, [ONE, TEN], talked) == first
    for name, value in (("p50_ms", 4.0), ("p95_ms", 7.0), ("silent_cpu", 0.4), ("silent_mb", 3.0)):
        other = replace(TEN, **{name: value})
        assert drawn(tmp_path, [ONE, other], talked) != first, name
    assert drawn(tmp_path, [ONE, TEN], [(10, 80.0, 9), (20, 99.0, 9)]) != first


def test_what_was_not_measured_is_left_empty(tmp_path: Path) -> None:
    assert drawn(tmp_path, [], []).startswith(b"\x89PNG")
    nobody_answered = replace(ONE, p50_ms=float("nan"), p95_ms=float("nan"))
    assert drawn(tmp_path, [nobody_answered], []).startswith(b"\x89PNG")


def test_runs_that_were_made_one_by_one_are_one_picture(tmp_path: Path) -> None:
    talked = [(10, 80.0, 9), (20, 81.0, 9)]
    at_once = [AtOnceRow(1, 9, 400.0, 900.0, 0, 0, 1.1), AtOnceRow(4, 30, 900.0, 3000.0, 2, 0, 1.9)]
    parts = [
        {"rows": [asdict(TEN)], "talked": talked},
        {"rows": [asdict(ONE)], "talked": []},
        {"at_once": [asdict(at_once[1])]},
        {"at_once": [asdict(at_once[0])]},
    ]
    files = [tmp_path / f"{number}.txt" for number in range(len(parts))]
    for file, part in zip(files, parts, strict=True):
        file.write_text(f"a table\n{json.dumps(part)}\n", encoding="utf-8")
    assert main([*map(str, files), "--out", str(tmp_path / "all.png")]) == 0
    whole = (tmp_path / "all.png").read_bytes()
    draw_load(tmp_path / "load.png", [ONE, TEN], talked, at_once)
    assert (tmp_path / "load.png").read_bytes() == whole
    assert drawn(tmp_path, [ONE, TEN], talked) != whole
