"""Tools that list and read the text files of one folder, and of nothing else: no way out by `..`,
by an absolute path or by a link, nothing hidden, nothing that is no plain file, and not too much.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from s2s.tools.tool import MOST_CHARS, Tool, ToolError, made_of

MOST_BYTES = 256 * 1024
"""Of a file that is read at all."""
MOST_FILES = 200
DEEPEST = 3
"""Folders within the folder."""


class ReadableFolder:
    """The text files of a folder.

    Raises:
        ValueError: it is none.
    """

    def __init__(self, folder: Path) -> None:
        self._root = folder.expanduser().resolve()
        if not self._root.is_dir():
            raise ValueError(f"{folder} is no folder")

    def names(self) -> list[str]:
        """Their names relative to the folder, sorted, at most `MOST_FILES`."""
        found: list[str] = []
        for name in self._walk(self._root, 0):
            found.append(name)
            if len(found) >= MOST_FILES:
                break
        return sorted(found)

    def known(self, name: str) -> str:
        """`name`, of which there is a file.

        Raises:
            ValueError: there is none; says which there are.
        """
        called = "" if "\0" in name else self._called(name)
        if self._inside(name) is None and self._inside(called) is None:
            near = ", ".join(self.names()[:20]) or "none"
            raise ValueError(f"there is no file {name!r} in the folder. There are: {near}")
        return name

    def read(self, name: str) -> str:
        """The text of a file, by its name or by what a person calls it.

        Raises:
            ToolError: there is none of that name, it may not be read, is too long or no text.
        """
        called = "" if "\0" in name else self._called(name)
        path = self._inside(name) or self._inside(called)
        if path is None:
            raise ToolError(f"there is no file {name!r} in the folder.")
        data = _bytes_of(path)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ToolError(f"{path.name} is no text.") from None
        if "\0" in text:
            raise ToolError(f"{path.name} is no text.")
        return text

    def _inside(self, name: str) -> Path | None:
        """The plain file of that name below the folder; None where there is none that may be read.
        No component of it is a link: what is looked at is what is opened."""
        if not name or "\0" in name or (os.name == "nt" and ":" in name):
            return None
        path = self._root
        parts = Path(name).parts
        if Path(name).is_absolute() or not 0 < len(parts) <= DEEPEST + 1:
            return None
        for part in parts:
            if part.startswith(".") or part in ("", os.sep):
                return None
            path = path / part
            try:
                if path.is_symlink() or not path.exists():
                    return None
            except OSError:
                return None
        try:
            inside = path.resolve().is_relative_to(self._root)
            return path if inside and stat.S_ISREG(path.lstat().st_mode) else None
        except OSError:
            return None

    def _called(self, name: str) -> str:
        """The file whose name says the same, signs and ending aside; "" for none or several."""
        wanted = _plain(name)
        names = self.names()
        found = [each for each in names if _plain(each) == wanted]
        found = found or [each for each in names if _plain(Path(each).stem) == wanted]
        return found[0] if len(found) == 1 else ""

    def _walk(self, folder: Path, depth: int) -> Iterator[str]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_file(follow_symlinks=False):
                yield Path(entry.path).relative_to(self._root).as_posix()
            elif depth < DEEPEST and entry.is_dir(follow_symlinks=False):
                yield from self._walk(Path(entry.path), depth + 1)


def _bytes_of(path: Path) -> bytes:
    """What a plain file holds; it is not followed if it became a link, nor waited for if it became
    a pipe."""
    flags = os.O_RDONLY
    if os.name == "posix":
        flags |= os.O_NOFOLLOW | os.O_NONBLOCK
    else:
        flags |= os.O_BINARY
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise ToolError(f"{path.name} cannot be read: {error.strerror}.") from None
    with os.fdopen(handle, "rb") as file:
        known = os.fstat(file.fileno())
        if not stat.S_ISREG(known.st_mode):
            raise ToolError(f"{path.name} is no plain file.")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ToolError(f"{path.name} is too long: more than {MOST_BYTES // 1024} KB.")
    return data


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name.casefold()).strip()


def folder_tools(folder: Path) -> list[Tool]:
    """The tools that list and read its files.

    Raises:
        ValueError: it is no folder.
    """
    readable = ReadableFolder(folder)
    known = Annotated[str, AfterValidator(readable.known)]

    def list_files() -> str:
        """Lists the files of the person that can be read."""
        return ", ".join(readable.names()) or "The folder is empty."

    def read_file(name: str, part: int = 1) -> str:
        """Reads a file of the person.

        Args:
            name: its name, as list_files tells it.
            part: which part of a long file, from 1 on.
        """
        text = readable.read(name)
        parts = max(1, -(-len(text) // PART_CHARS))
        if not 1 <= part <= parts:
            raise ToolError(f"{name} has {parts} parts, there is no part {part}.")
        shown = text[(part - 1) * PART_CHARS : part * PART_CHARS]
        return shown if parts == 1 else f"(part {part} of {parts})\n{shown}"

    read_file.__annotations__["name"] = known  # it is known here alone, and hints are read late
    return [
        made_of(
            list_files,
            wish="hear which files there are",
            cues=(r"\b(?:which|what|list|show|any|my)\b.{0,20}\b(?:files|notes|documents)\b",),
            examples=(("Which files do I have?", "{}"),),
        ),
        made_of(
            read_file,
            wish="have a file read",
            cues=(
                r"\b(?:read|open|show|tell me|what(?:'s| is| does| do)?)\b.{0,30}"
                r"\b(?:file|note|notes|list|document|recipe|letter|text)\b",
            ),
            examples=(("Read me my shopping list.", '{"name": "shopping list"}'),),
            written="name",
        ),
    ]


PART_CHARS = MOST_CHARS - 100
