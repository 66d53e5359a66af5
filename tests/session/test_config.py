"""Every setting of a session arrives where it is used."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

import s2s.session
import s2s.turns
from s2s.session.config import SessionConfig
from s2s.turns.config import TurnsConfig


def _read(package: str | None, name: str) -> set[str]:
    """Names that the modules of a package read from something called `config` or `_config`."""
    assert package is not None
    found: set[str] = set()
    for path in Path(package).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and path.name != "config.py":
                owner = ast.unparse(node.value)
                if owner in (name, f"self._{name}"):
                    found.add(node.attr)
    return found


@pytest.mark.parametrize(
    ("kind", "package"),
    [(SessionConfig, s2s.session.__file__), (TurnsConfig, s2s.turns.__file__)],
    ids=["session", "turns"],
)
def test_no_setting_is_forgotten(kind: type, package: str | None) -> None:
    settings = {field.name for field in dataclasses.fields(kind)}
    assert settings <= _read(package, "config")
