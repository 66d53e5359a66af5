"""The scripts that measure are doors: what measures is in `s2s.bench`."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "scripts").glob("benchmark_*.py"))


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) > 5


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_only_calls_the_main_of_a_module(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {alias.name: node.module or "" for node in imports for alias in node.names}
    assert len(source.splitlines()) <= 12
    assert set(names) == {"main", "run_measurement"}
    assert names["run_measurement"] == "s2s.bench.entry"
    assert names["main"].startswith("s2s.bench.")
    assert callable(importlib.import_module(names["main"]).main)
