"""What is kept is told by kind, and no place is forgotten: the sources are looked through."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from s2s.app.keeping.kept import (
    KINDS,
    NAMES,
    PLACES,
    forget_places,
    not_ours,
    note_place,
    what_there_is,
)
from tests.support.sources import parsed

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT / "s2s").rglob("*.py"))
ROOTS = {"root", "home", "expanduser"}
"""What the cache is called where something is put below it: `store.root`, `home()`, `self.home`."""
MODEL_FILES = {"models", "hub"}


def named(node: ast.expr) -> str:
    """The last name of an expression: `store.root` and `home()` are root and home."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=func):
            return named(func)
        case ast.BoolOp(values=values):
            return named(values[-1])
        case ast.IfExp(body=body):
            return named(body)
        case _:
            return ""


CONSTANTS = {
    target.id: node.value.value
    for path in SOURCES
    for node in parsed(path).body
    if isinstance(node, ast.Assign)
    and isinstance(node.value, ast.Constant)
    and isinstance(node.value.value, str)
    for target in node.targets
    if isinstance(target, ast.Name) and target.id.isupper()
}
OWN_NAMES = {"FILE": "my-voice.json", "FOLDER": "in-use", "PLACES": PLACES}
"""Constants of one name in several modules: those of who writes below the cache."""


def places(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each place below the cache that a module names."""
    for node in ast.walk(parsed(path)):
        place: ast.expr | None = None
        match node:
            case ast.BinOp(left=left, op=ast.Div(), right=right) if named(left) in ROOTS:
                place = right
            case ast.Call(func=ast.Attribute(attr="folder"), args=[first]):
                place = first
            case _:
                continue
        match place:
            case ast.Constant(value=str(text)):
                yield node.lineno, text
            case ast.Name(id=name) if name.isupper():
                yield node.lineno, OWN_NAMES.get(name) or CONSTANTS.get(name, name)
            case ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name(id=name)), *_]):
                yield node.lineno, OWN_NAMES.get(name) or CONSTANTS.get(name, name)
            case _:
                pass


FOUND = [
    (path.relative_to(ROOT), line, place)
    for path in SOURCES
    if "bench" not in path.parts and "testing" not in path.parts
    for line, place in places(path)
]


def test_the_search_finds_who_keeps_something() -> None:
    found = {place for _, _, place in FOUND}
    assert {"my-voice.json", "voices", "tls", "split", "qwen3-graphs", "kernels"} <= found
    assert {"kokoro-voices", "audio", "mms", "models.yaml", "in-use", PLACES} <= found


@pytest.mark.parametrize(("path", "line", "place"), FOUND, ids=lambda value: str(value))
def test_whatever_is_put_below_the_cache_is_of_a_kind(path: Path, line: int, place: str) -> None:
    known = {name for kind in KINDS for name in kind.places} | {PLACES}
    assert place in known, (
        f"{path}:{line} keeps {place} below the cache, which `erase` would forget: add it to a "
        "kind of s2s/app/keeping/kept.py"
    )


def test_kinds_have_names_and_places_of_their_own() -> None:
    every = [name for kind in KINDS for name in kind.places]
    assert len(set(every)) == len(every)
    assert len(set(NAMES)) == len(NAMES)
    assert [kind.personal for kind in KINDS] == sorted((k.personal for k in KINDS), reverse=True)


def test_only_what_is_there_is_told(tmp_path: Path) -> None:
    assert what_there_is(tmp_path / "none") == []
    (tmp_path / "voices").mkdir()
    (tmp_path / "my-voice.json").write_text("{}")
    (tmp_path / "hers.txt").write_text("x")
    [found] = what_there_is(tmp_path)
    assert (found.what, found.size_bytes) == ("voiceprint", 2)
    assert not_ours(tmp_path) == [tmp_path / "hers.txt"]
    assert not_ours(tmp_path / "none") == []


def test_what_is_kept_elsewhere_is_remembered_once(tmp_path: Path) -> None:
    root, talks = tmp_path / "home", tmp_path / "talks"
    (talks / "one").mkdir(parents=True)
    (talks / "one" / "session.json").write_text("{}")
    (talks / "hers.txt").write_text("x")
    for _ in range(2):
        note_place(root, "records", talks)
    [found] = what_there_is(root)
    assert (found.what, found.paths) == ("records", (talks / "one",)), "and nothing beside it"
    shutil.rmtree(talks)
    assert what_there_is(root) == []
    forget_places(root)
    assert not (root / PLACES).exists()


def test_a_note_that_is_damaged_is_none(tmp_path: Path) -> None:
    for text in ("[", "{}", '[["records"], 3, ["records", 4]]'):
        (tmp_path / PLACES).write_text(text)
        assert what_there_is(tmp_path) == []
    with pytest.raises(ValueError, match="cache alone"):
        note_place(tmp_path, "models", tmp_path)
