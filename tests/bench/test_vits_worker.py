"""One engine in a process: a line of phoneme numbers in, a line of arrivals out."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from s2s.bench import vits_worker
from s2s.bench.vits_worker import LOADERS, peak_mb, work
from tests.support.vits import voice_folder

IDS = [1, 0, 5, 0, 9, 0, 4, 0, 12, 0, 2]


@pytest.mark.parametrize("engine", ["s2s", "one-shot"])
def test_the_engines_of_this_project_speak(engine: str, tmp_path: Path) -> None:
    model = next(voice_folder(tmp_path, "steady").glob("*.onnx"))
    pieces = list(LOADERS[engine](model, 1)(IDS))
    assert sum(pieces) > 0
    assert (len(pieces) == 1) or engine == "s2s"


def test_each_line_is_answered_by_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(LOADERS, "s2s", lambda model, threads: lambda ids: iter([10 * len(ids), 5]))
    monkeypatch.setattr(vits_worker.sys, "stdin", io.StringIO("[1, 2]\n[3]\n"))
    work("s2s", Path("x"), 1)
    ready, *lines = capsys.readouterr().out.splitlines()
    assert ready == "ready"
    told = [json.loads(line.removeprefix("run ")) for line in lines]
    assert [[samples for _, samples in each["arrivals"]] for each in told] == [[20, 5], [10, 5]]
    assert all(each["peak_mb"] == pytest.approx(peak_mb(), rel=0.5) for each in told)
