"""The standard streams, whatever locale or redirection they have, and the log on one of them."""

from __future__ import annotations

import io
import logging
import sys

LEVELS = ("debug", "info", "warning", "error")


def forgiving_streams() -> None:
    """Let the standard streams show what they can: a sign that their encoding lacks becomes `?`.

    A file on Windows is cp1252, a container's locale often ASCII, and a model says what it likes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def start_logging(level: str) -> None:
    """Log to stderr, from `level` of `LEVELS` on; libraries only when they warn."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    if level.upper() in logging.getLevelNamesMapping():
        logging.getLogger("s2s").setLevel(level.upper())
    else:
        logging.getLogger(__name__).warning(
            "S2S_LOG_LEVEL=%s is none of %s", level, ", ".join(LEVELS)
        )
