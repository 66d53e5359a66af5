"""What running programs use of the files of the cache, so that nobody deletes it under them.

A program holds a lock for each folder that it has read from, until it ends, however it ends. The
locks lie in a folder of their own: those that are held tell, not those that are there.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path

FOLDER = "in-use"
"""Of the cache."""


class InUse:
    """What one program uses below `root`. Safe from any thread; lets go when it is collected."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}
        """Descriptors of locks that are held, by name."""
        self._end = weakref.finalize(self, _let_go, self._held)

    def hold(self, path: Path) -> None:
        """Say that `path` is used from now on. Nothing outside of `root` is noted; nor is anything
        where the cache cannot be written."""
        name = _name(self._root, path)
        with self._lock:
            if name is None or name in self._held:
                return
            with suppress(OSError):
                (self._root / FOLDER).mkdir(parents=True, exist_ok=True)
                descriptor = os.open(self._root / FOLDER / name, os.O_RDWR | os.O_CREAT, 0o644)
                try:
                    _share(descriptor)
                except OSError:  # who deletes holds it: the files go, or are gone
                    os.close(descriptor)
                    return
                self._held[name] = descriptor

    def let_go(self) -> None:
        """Nothing is used any more. Idempotent."""
        with self._lock:
            _let_go(self._held)


def is_used(root: Path, path: Path) -> bool:
    """Whether a running program, this one too, uses what `path` is, below `root`; of the locks
    themselves, whether one is held."""
    folder = root / FOLDER
    if path == folder:
        return any(_is_held(each) for each in folder.glob("*"))
    name = _name(root, path)
    if name is None:
        return False
    within = [each.name for each in folder.glob(f"{name}--*")]
    return any(_is_held(folder / each) for each in {name, name.partition("--")[0], *within})


def _name(root: Path, path: Path) -> str | None:
    """Names the folder of the cache that `path` is, or lies in; None outside of it."""
    try:
        parts = path.resolve().relative_to(root.resolve()).parts
    except (ValueError, OSError):
        return None
    if not parts or parts[0] == FOLDER:
        return None
    return "--".join(re.sub(r"[^\w.@+=-]", "_", part) for part in parts[:2])


def _is_held(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _alone(descriptor)
    finally:
        os.close(descriptor)


def _let_go(held: dict[str, int]) -> None:
    while held:
        _, descriptor = held.popitem()
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    _MOST = 0x3FFF_FFFF

    def _share(descriptor: int) -> None:
        """Each process has a byte of its own: there are no shared locks."""
        os.lseek(descriptor, os.getpid() % _MOST, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _alone(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, _MOST)
        except OSError:
            return False
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, _MOST)
        return True

else:
    import fcntl

    def _share(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def _alone(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        return True
