"""A line for every source, and a failure only where a file has none left."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.app.doctor.sources import sources
from s2s.models.manifest import LocalPart, Model, ModelFile
from s2s.models.store import Store


@pytest.mark.parametrize("other", [True, False])
def test_a_file_without_any_source_is_a_failure(
    other: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    here, gone = tmp_path / "a.bin", tmp_path / "b.bin"
    here.write_bytes(b"a")
    parts = (LocalPart(gone), LocalPart(here)) if other else (LocalPart(gone),)
    file = ModelFile("a.bin", 1, None, tuple((part,) for part in parts))
    model = Model("m", "for tests", "MIT", "", (), (file,))
    store = Store(tmp_path, manifest={"m": model})
    assert sources(store) == (0 if other else 1)
    lines = capsys.readouterr().out.splitlines()
    sign = "!   " if other else "FAIL"
    assert lines[0] == f"{sign} m/a.bin: {gone}: no such file"
    assert lines[1:-1] == ([f"ok   m/a.bin: {here}"] if other else [])
    assert lines[-1] == f"1 sources do not answer; {0 if other else 1} files cannot be had"
