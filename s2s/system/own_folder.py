"""Folders that nobody but this user can write: for what is loaded and executed."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NotOwnError(OSError):
    """A folder that another user owns or can write. The message says which, and what to do."""


def make_own(folder: Path) -> None:
    """Make ``folder`` if it is missing, and let nobody else into it (mode 0700).

    Raises NotOwnError for one that another user owns or could have put something into; OSError when
    it cannot be made. On Windows, where folders of a user are his own, it is made and no more.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":
        return
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise NotOwnError(
            f"{folder}: it belongs to the user with the number {found.st_uid}, and this is "
            f"{os.geteuid()}; set S2S_HOME to a folder of your own"
        )
    if found.st_mode & _OTHERS_WRITE:
        raise NotOwnError(
            f"{folder}: other users can write into it (mode {stat.S_IMODE(found.st_mode):04o}); "
            "delete it, or set S2S_HOME to a folder of your own"
        )
    if stat.S_IMODE(found.st_mode) != stat.S_IRWXU:
        folder.chmod(stat.S_IRWXU)
