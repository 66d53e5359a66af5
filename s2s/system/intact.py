"""Whether files that this program has made are still what they were when it made them.

What is kept to save time (graphs, converted weights, cut voices) is read by libraries that trust
it: a damaged graph can end the process. So the folder holds a list of digests, and is looked
through before it is used. It is no protection against a person who can write there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from s2s.core.untyped import is_mapping

SEAL = "files.json"
"""The list: digest by name."""

# Of larger files, which are weights behind a header, head and tail count whole and of the rest a
# part of every megabyte: a wrong weight is a wrong number, a wrong header a crash.
_WHOLE_BYTES, _HEAD_BYTES = 8 << 20, 4 << 20
_SAMPLE_BYTES, _STRIDE_BYTES = 4096, 1 << 20


def seal(folder: Path, names: Iterable[str] | None = None) -> None:
    """Write down what the files of a folder are: those of ``names``, or all of them."""
    wanted = sorted(names) if names is not None else _files(folder)
    content = {name: digest(folder / name) for name in wanted}
    (folder / SEAL).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def is_sealed(folder: Path) -> bool:
    """There is a list; older folders have none."""
    return (folder / SEAL).is_file()


def damaged(folder: Path) -> str | None:
    """The name of a file that is not what it was, or is missing; None when all are. A folder
    without a list is damaged."""
    try:
        listed = json.loads((folder / SEAL).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return SEAL
    if not is_mapping(listed) or not listed:
        return SEAL
    for name, expected in listed.items():
        if Path(name).name != name:
            return SEAL
        try:
            if digest(folder / name) != expected:
                return name
        except OSError:
            return name
    return None


def digest(path: Path) -> str:
    """SHA-256 of a file's size and content; of a large file's head, samples and tail."""
    size = path.stat().st_size
    found = hashlib.sha256(size.to_bytes(8, "little"))
    with path.open("rb") as file:
        if size <= _WHOLE_BYTES:
            found.update(file.read())
        else:
            found.update(file.read(_HEAD_BYTES))
            for start in range(_HEAD_BYTES, size, _STRIDE_BYTES):
                file.seek(start)
                found.update(file.read(_SAMPLE_BYTES))
            file.seek(-_STRIDE_BYTES, os.SEEK_END)
            found.update(file.read())
    return found.hexdigest()


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != SEAL)
