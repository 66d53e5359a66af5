"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_whole(
    path: Path, content: str | bytes, *, mode: int = 0o666, durable: bool = False
) -> None:
    """Write a file in place of an earlier one: who reads it meanwhile reads that one, and of
    several who write it at once one wins. Its folder has to be there.

    Args:
        content: text is written in UTF-8.
        mode: who may read and write it, less what the process' umask takes.
        durable: it is on the disk before the earlier one is gone.

    Raises:
        OSError: it cannot be written; the earlier file is as it was.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    partial = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.partial")
    try:
        with open(partial, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as out:
            out.write(data)
            if durable:
                out.flush()
                os.fsync(out.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
