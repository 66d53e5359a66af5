"""The standard streams, whatever locale or redirection they have."""

from __future__ import annotations

import io
import sys


def forgiving_streams() -> None:
    """Let the standard streams show what they can: a sign that their encoding lacks becomes `?`.

    A file on Windows is cp1252, a container's locale often ASCII, and a model says what it likes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
