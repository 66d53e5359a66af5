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

FOLDERS = [Path(str(package.__file__)).parent for package in (s2s.session, s2s.turns)]


def _read(*owners: str) -> set[str]:
    """Names that the modules of sessions and turns read from one of `owners`."""
    return {
        node.attr
        for folder in FOLDERS
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in owners
    }


@pytest.mark.parametrize(
    ("kind", "owners"),
    [
        (SessionConfig, ("config", "self._config")),
        (TurnsConfig, ("config", "self._config", "config.turns")),
    ],
    ids=["session", "turns"],
)
def test_no_setting_is_forgotten(kind: type, owners: tuple[str, ...]) -> None:
    settings = {field.name for field in dataclasses.fields(kind)}
    assert settings - {"provisional"} <= _read(*owners)


def test_early_starts_are_as_they_are_set() -> None:
    early, certain = TurnsConfig().graces(provisional=True)
    assert early != certain
    assert TurnsConfig().graces(provisional=False) == (certain, certain)
