"""What `.ci/run` leaves to `.ci/run --all` is written down, and a tiny part of it always runs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.requirements import ON_REQUEST

ROOT = Path(__file__).parents[1]
OPTIONS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]
MARKS = [re.split(r"[(:]", each)[0] for each in OPTIONS["ini_options"]["markers"]]
TEXT = (ROOT / "docs" / "checks.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| .* \| .*`(tests/[\w/]+\.py)` \|$", TEXT, re.MULTILINE)
SCRIPT = (ROOT / ".ci" / "run").read_text("utf-8")


def on_request(path: Path) -> Iterator[tuple[str, bool]]:
    """Each test of a file, and whether it runs only when asked for."""
    tree = ast.parse(path.read_text("utf-8"))
    whole = any(
        isinstance(node, ast.Assign) and re.search(_MARKED, ast.unparse(node)) for node in tree.body
    )
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            marks = "\n".join(map(ast.unparse, node.decorator_list))
            yield node.name, whole or bool(re.search(_MARKED, marks))


_MARKED = rf"mark\.({'|'.join([*ON_REQUEST, 'full'])})\b"


def test_what_runs_on_request_is_written_down() -> None:
    assert {mark for mark, _ in ROWS} == {*ON_REQUEST, "full"}
    assert {*ON_REQUEST, "full"} < set(MARKS)
    always = set(MARKS) - {*ON_REQUEST, "full"}
    assert all(f"`{mark}`" in TEXT for mark in always)


@pytest.mark.parametrize(("mark", "file"), ROWS)
def test_a_tiny_part_of_each_kind_always_runs(mark: str, file: str) -> None:
    assert any(not asked for _, asked in on_request(ROOT / file)), mark


def test_all_asks_for_everything() -> None:
    """Marks and variables that tests look for are those that `--all` sets."""
    for mark in ON_REQUEST:
        assert f"--require {mark}" in SCRIPT
    sources = (path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    wanted = {name for text in sources for name in re.findall(r"\bTESTS_[A-Z0-9_]+\b", text)}
    given = set(re.findall(r"\b(TESTS_\w+)=", SCRIPT))
    assert given == wanted - {"TESTS_SOAK_CHECKPOINT"}  # a folder, instead of one made there
    assert all(name in TEXT for name in given)


def test_how_whoever_runs_them_set_the_program_is_nothing_to_the_tests() -> None:
    test = "tests/app/cluster/test_application.py::"
    test += "test_a_serve_yaml_gives_settings_a_file_of_them_or_both"
    given = os.environ | {"S2S_SERVE_MAX_SESSIONS": "0", "S2S_OF_ANOTHER_VERSION": "1"}
    command = [sys.executable, "-m", "pytest", "-q", test]
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
