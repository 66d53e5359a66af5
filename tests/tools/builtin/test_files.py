"""The files of one folder, and no others."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tools import ToolContext, ToolError
from s2s.tools.builtin.files import MOST_BYTES, ReadableFolder, folder_tools

SECRET = "this is nobody's business"
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of Unix")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `notes` beside a secret, with whatever could lead out of it."""
    house = tmp_path_factory.mktemp("house")
    (house / "secret.txt").write_text(SECRET)
    (house / "vault").mkdir()
    (house / "vault" / "key.txt").write_text(SECRET)
    notes = house / "notes"
    (notes / "deep" / "deeper").mkdir(parents=True)
    (notes / "shopping-list.txt").write_text("milk and bread")
    (notes / "deep" / "recipe.md").write_text("flour")
    (notes / ".hidden").write_text(SECRET)
    (notes / "picture.bin").write_bytes(b"\xff\xfe\x00")
    if sys.platform != "win32":
        (notes / "link.txt").symlink_to(house / "secret.txt")
        (notes / "inner.txt").symlink_to(notes / "shopping-list.txt")
        (notes / "door").symlink_to(house / "vault")
        (notes / "deep" / "up").symlink_to("../..")
        os.mkfifo(notes / "pipe")
    return house


def test_files_are_listed_and_read_by_name_or_as_they_are_called(house: Path) -> None:
    folder = ReadableFolder(house / "notes")
    assert folder.names() == ["deep/recipe.md", "picture.bin", "shopping-list.txt"]
    for name in ("shopping-list.txt", "Shopping List", "shopping list.", "SHOPPING_LIST.TXT"):
        assert folder.read(name) == "milk and bread"
    assert folder.read("deep/recipe.md") == folder.read("recipe") == "flour"


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "deep/../../secret.txt",
        "deep/../shopping-list.txt",
        "/etc/passwd",
        "~/secret.txt",
        ".hidden",
        "",
        ".",
        "..",
        "deep",
        "secret.txt",
        "shopping-list.txt\0",
        "x" * 5000,
    ],
)
def test_there_is_no_way_out(house: Path, name: str) -> None:
    with pytest.raises(ToolError, match="there is no file"):
        ReadableFolder(house / "notes").read(name)


@UNIX
@pytest.mark.parametrize(
    "name", ["link.txt", "inner.txt", "door/key.txt", "deep/up/secret.txt", "pipe"]
)
def test_links_and_pipes_are_no_files(house: Path, name: str) -> None:
    with pytest.raises(ToolError, match="there is no file"):
        ReadableFolder(house / "notes").read(name)


_PARTS = st.sampled_from(
    ["..", ".", "", "deep", "deeper", "up", "door", "notes", "secret.txt", "key.txt", "link.txt",
     "vault", "~", "recipe.md", "shopping list", ".hidden", "\\", "C:", "etc", "passwd"]
)  # fmt: skip


@given(st.lists(_PARTS, max_size=6), st.sampled_from(["/", "\\", "//", " "]), st.booleans())
def test_no_name_leads_to_what_is_outside(
    house: Path, parts: list[str], between: str, from_root: bool
) -> None:
    name = ("/" if from_root else "") + between.join(parts)
    try:
        text = ReadableFolder(house / "notes").read(name)
    except ToolError:
        return
    assert text in ("milk and bread", "flour")


@given(st.text(max_size=30))
def test_no_text_at_all_leads_to_what_is_outside(house: Path, name: str) -> None:
    try:
        text = ReadableFolder(house / "notes").read(name)
    except ToolError:
        return
    assert text != SECRET


def test_what_is_no_text_or_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "picture.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "nulls.txt").write_bytes(b"a\0b")
    (tmp_path / "long.txt").write_bytes(b"a" * (MOST_BYTES + 1))
    folder = ReadableFolder(tmp_path)
    for name, why in (
        ("picture.bin", "no text"),
        ("nulls.txt", "no text"),
        ("long.txt", "too long"),
    ):
        with pytest.raises(ToolError, match=why):
            folder.read(name)


def test_long_files_are_read_in_parts(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("".join(f"line {n}\n" for n in range(1000)))
    listing, reading = folder_tools(tmp_path)
    assert listing.call("{}", ToolContext()).text == "book.txt"
    first = reading.call('{"name": "book"}', ToolContext())
    assert first.text.startswith("(part 1 of 3)\nline 0")
    assert not first.sayable
    last = reading.call('{"name": "book", "part": 3}', ToolContext())
    assert last.text.rstrip().endswith("line 999")
    assert not reading.hints.fits("name", "the cook")
    assert reading.hints.fits("name", "the book") is False
    assert reading.hints.fits("name", "Book")
    assert "There are: book.txt" in reading.call('{"name": "the book"}', ToolContext()).text
    assert "no part 4" in reading.call('{"name": "book", "part": 4}', ToolContext()).text


def test_a_folder_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no folder"):
        ReadableFolder(tmp_path / "nowhere")
    assert folder_tools(tmp_path)[0].call("", ToolContext()).text == "The folder is empty."
