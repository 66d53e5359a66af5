"""Every module that holds logic has tests of its own, where the module is: `s2s/a/b.py` is tested
by `tests/a/test_b.py`, and by whatever else a test there is named after."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.sources import parsed

ROOT = Path(__file__).parents[1]
SOURCES = {path.relative_to(ROOT / "s2s").as_posix(): path for path in (ROOT / "s2s").rglob("*.py")}

LOGIC_FROM = 3
"""Statements inside of functions from which on a module holds logic; fewer only name things."""
ELSEWHERE = {
    "tts/qwen3/__init__.py": "a door of a library: tests/tts/qwen3/test_door.py",
    "tts/qwen3/checkpoint/__init__.py": "a door of a library: tests/tts/qwen3/test_door.py",
}
"""Modules that have no test of their own, and why."""


def statements(tree: ast.Module) -> int:
    """Statements in bodies of functions; a docstring and `...` are none."""
    return sum(
        isinstance(inner, ast.stmt)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for outer in function.body
        if not (isinstance(outer, ast.Expr) and isinstance(outer.value, ast.Constant))
        for inner in ast.walk(outer)
    )


def has_logic(path: Path) -> bool:
    """It does something that a test can find wrong."""
    return statements(parsed(path)) >= LOGIC_FROM


def home_of(module: str) -> Path:
    """Where the tests of a module are: "core/clock.py" -> tests/core/test_clock.py."""
    path = Path(module)
    return ROOT / "tests" / path.parent / f"test_{path.name}"


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_a_module_with_logic_has_tests_where_it_is(module: str) -> None:
    if module in ELSEWHERE:
        return
    if not has_logic(SOURCES[module]):
        return
    tests = home_of(module)
    assert tests.is_file(), f"s2s/{module} holds logic and {tests.relative_to(ROOT)} is not there"
    assert "def test_" in tests.read_text(encoding="utf-8")


def test_who_is_tested_elsewhere_exists_and_has_no_test_of_its_own() -> None:
    for module, reason in ELSEWHERE.items():
        assert has_logic(SOURCES[module])
        assert not home_of(module).exists()
        assert (ROOT / reason.split()[-1]).is_file()


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("A = 1\nB = [A for A in range(3)]\n", 0),
        ('class A:\n    """What."""\n    x: int = 3\n', 0),
        ('class A:\n    def one(self) -> int:\n        """What."""\n        ...\n', 0),
        ("def one() -> int:\n    return 1\n", 1),
        ("def two(a: int) -> int:\n    if a:\n        return 1\n    return 2\n", 3),
    ],
)
def test_logic_is_what_functions_do(source: str, number: int) -> None:
    assert statements(ast.parse(source)) == number
