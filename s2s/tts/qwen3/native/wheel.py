"""The kernel as it is installed: the library of the wheel ``s2s-kernels`` (``native/``).

It holds every level of the processor, so it needs no compiler where it is used.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

PACKAGE = "s2s_kernels"
DISTRIBUTION = "s2s-kernels"
_SUFFIXES = (".so", ".dylib", ".dll")


def installed_library() -> Path | None:
    """The library of the wheel; None where that is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None:
        return None
    for folder in spec.submodule_search_locations or ():
        for file in sorted(Path(folder).iterdir()):
            if PACKAGE in file.name and file.suffix in _SUFFIXES:
                return file
    return None


def installed_version() -> str:
    """Of the wheel; "" where nothing says."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return ""
