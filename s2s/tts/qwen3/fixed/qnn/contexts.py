"""What a compiler made of a graph, kept beside it: by content, chip and versions.

Each lies in a folder of its own that appears whole or not at all, with a list of what its files
are; a damaged one is made again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from s2s.core.untyped import is_mapping
from s2s.models.onnx_file.builder import cached_graph
from s2s.system.intact import digest
from s2s.system.whole_file import write_whole

CONTEXTS_VERSION = 1
"""Raised when what is asked of the compiler changes."""
CONTEXT = "context"
"""Of the file's name in a context's folder."""
_KEY_DIGITS = 16


def content_key(graphs: list[Path], *how: str) -> str:
    """Of graphs with the weights that they name, and of how they are compiled.

    Raises OSError when one cannot be read.
    """
    found = hashlib.sha256(f"{CONTEXTS_VERSION}".encode())
    for graph in graphs:
        named = graph.read_bytes()
        data = sorted(graph.parent.glob("*.onnx.data"))
        for file in [graph, *(each for each in data if each.name.encode() in named)]:
            found.update(f"{file.name} {digest(file)}\n".encode())
    for each in how:
        found.update(f"{each}\n".encode())
    return found.hexdigest()[:_KEY_DIGITS]


def kept_context(
    folder: Path, graph: Path, key: str, compile_to: Callable[[Path], None]
) -> tuple[Path, bool]:
    """The compiled graph in a folder of contexts, and whether it was made now; ``compile_to``
    writes the file that it is given. Of an older key it is removed then.

    Raises whatever ``compile_to`` does, OSError.
    """
    compiled = [False]

    def build(into: Path) -> Path:
        compiled[0] = True
        path = into / f"{CONTEXT}.onnx"
        compile_to(path)
        return path

    place = folder / f"{graph.stem}-{key}"
    path = cached_graph(place, CONTEXT, build)
    if compiled[0]:
        for older in folder.glob(f"{graph.stem}-{'?' * _KEY_DIGITS}"):
            if older != place:
                shutil.rmtree(older, ignore_errors=True)
    return path, compiled[0]


def forget(path: Path) -> None:
    """Remove a context that cannot be opened."""
    shutil.rmtree(path.parent, ignore_errors=True)


def read_note(path: Path, key: str) -> dict[str, float]:
    """Numbers by name that were written down for this key; none of another."""
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not is_mapping(found) or found.get("key") != key:
        return {}
    numbers = {name: value for name, value in found.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items()}


def write_note(path: Path, key: str, numbers: dict[str, float]) -> None:
    """Keep numbers for `read_note`. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"key": key, **numbers}) + "\n")
