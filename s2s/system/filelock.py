"""A lock between processes and threads, held on a file."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def locked(path: Path) -> Generator[None, None, None]:
    """Hold the lock file `path`, made if missing; waits while another process or thread holds it.

    The system lets go of it when the process ends, however it ends.
    """
    with path.open("a+b") as file:
        _acquire(file)
        try:
            yield
        finally:
            _release(file)


if sys.platform == "win32":
    import msvcrt

    def _acquire(file: IO[bytes]) -> None:
        while True:
            try:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                return
            except OSError:  # LK_LOCK gives up after ten seconds: someone still downloads
                continue

    def _release(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _release(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
