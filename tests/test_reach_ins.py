"""Tests use what is public: no test reaches for a name that begins with an underscore."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sources import parsed

ROOT = Path(__file__).parents[1]
TESTS = sorted((ROOT / "tests").rglob("*.py"))

PUBLIC = {"_replace", "_asdict", "_fields", "_make", "_exit"}
"""Of named tuples and of `os`: documented in spite of their names."""
PATCHERS = {"setattr", "getattr", "hasattr", "delattr", "object"}
"""Functions whose text arguments are names."""


def reach_ins(tree: ast.AST) -> Iterator[str]:
    """Private names of others that are read, written, imported or patched."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=owner, attr=name) if not _is_own(owner):
                names = [name]
            case ast.ImportFrom(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called), args=arguments):
                names = [
                    part
                    for each in (arguments if called in PATCHERS else [])
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                    for part in re.split(r"[.:]", each.value)
                ]
            case _:
                continue
        for name in names:
            if re.match(r"_[^_]", name) and name not in PUBLIC:
                yield f"line {getattr(node, 'lineno', 0)}: {name}"


def _is_own(owner: ast.expr) -> bool:
    """`self`, `cls`, and `super()` of a class of the test's own."""
    if isinstance(owner, ast.Call):
        owner = owner.func
    return isinstance(owner, ast.Name) and owner.id in ("self", "cls", "super")


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_private_name_is_reached_for(path: Path) -> None:
    found = list(reach_ins(parsed(path)))
    assert not found, "give the test a public way (an argument, a property), or test what is public"


@pytest.mark.parametrize(
    "text",
    [
        "rig.handler._state",
        "rig._settings = 1",
        "cli._parser()",
        "from s2s.app.cli import _parser",
        "monkeypatch.setattr(module, '_open', fake)",
        "monkeypatch.setattr('s2s.app.cli._open', fake)",
        "getattr(model, '_run')",
        "patch.object(model, '_run')",
    ],
)
def test_what_is_a_reach_in(text: str) -> None:
    assert list(reach_ins(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "self._state",
        "super()._stream(kind)",
        "usage._replace(free=1)",
        "os._exit(1)",
        "model.__class__",
        "monkeypatch.setattr(module, 'open', fake)",
        "find('_codebook')",
        "_own()",
    ],
)
def test_what_is_none(text: str) -> None:
    assert not list(reach_ins(ast.parse(text)))
