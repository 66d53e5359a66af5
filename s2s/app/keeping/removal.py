"""Files and folders that are to go: what would be freed is told, who asked confirms, they go.

What a running program uses stays. Knows nothing of what the files are.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from s2s.app.terminal import print_table
from s2s.models.in_use import is_used


class KeptError(RuntimeError):
    """What cannot be removed. The message says what and why, and what to do."""


@dataclass(frozen=True, slots=True)
class Removal:
    """One thing that is to go."""

    what: str
    paths: tuple[Path, ...]
    about: str = ""

    @property
    def size_bytes(self) -> int:
        """What going frees."""
        return sum(map(size_bytes, self.paths))


def size_bytes(path: Path) -> int:
    """Of a file, or of all files in a folder; what a link leads to does not count."""
    if path.is_symlink() or not path.exists():
        return 0
    if path.is_file():
        return path.stat().st_size
    return sum(size_bytes(each) for each in path.iterdir())


def told_size(size: int) -> str:
    """A size in the unit that fits: `3 bytes`, `41.3 kB`, `98.4 MB`, `1.2 GB`."""
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= limit:
            return f"{size / limit:.1f} {unit}"
    return f"{size} byte{'s' * (size != 1)}"


def remove(
    root: Path,
    removals: Sequence[Removal],
    *,
    sure: bool,
    ask: Callable[[str], str] | None = None,
) -> int:
    """Show what would go, have it confirmed, remove it and say what was freed; the exit code.

    Args:
        root: of the cache: programs tell there what they use.
        removals: what is to go.
        sure: nothing is asked.
        ask: asks a question and gives the answer; None: at the terminal, if there is one.

    Raises:
        KeptError: a running program uses one of them, it cannot be deleted, or nobody confirms.
    """
    for each in removals:
        refuse_used(root, each)
    print_table(
        ("what", "size", "where"),
        [
            (each.what, told_size(each.size_bytes), "\n".join(map(str, each.paths)))
            for each in removals
        ],
    )
    total = sum(each.size_bytes for each in removals)
    if not sure and not _confirmed(f"Delete {told_size(total)}? [y/N] ", ask):
        print("nothing was deleted")
        return 1
    for each in removals:
        refuse_used(root, each)  # one may have begun while the question stood
        for path in each.paths:
            delete(path)
    print(f"deleted: {', '.join(each.what for each in removals)}; {told_size(total)} are free")
    return 0


def refuse_used(root: Path, removal: Removal) -> None:
    """
    Raises:
        KeptError: a running program uses it.
    """
    for path in removal.paths:
        if is_used(root, path):
            raise KeptError(
                f"{removal.what} is used by a program that runs: end it first. Nothing was deleted "
                f"of {path}"
            )


def delete(path: Path) -> None:
    """Delete a file, or a folder with all that is in it; of a link the link. What is not there is
    deleted already.

    Raises:
        KeptError: it cannot be deleted.
    """
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise KeptError(f"{path} cannot be deleted: {error}") from error


def _confirmed(question: str, ask: Callable[[str], str] | None) -> bool:
    if ask is None:
        if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
            raise KeptError("nothing was deleted: nobody is here to confirm it; --yes does")
        ask = input
    try:
        return ask(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False
