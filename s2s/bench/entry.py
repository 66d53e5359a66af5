"""How a measurement starts: what it lacks is said in one sentence, and the exit code is 2.

`run_measurement` is around the `main` of every script that measures and of every
`python -m s2s.bench...`; arguments that name what must be there are of the types `existing_folder`
and `existing_file`. What else goes wrong keeps its traceback, which its reader needs.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path

from s2s.config.registry import RegistryError
from s2s.config.typed import SettingError
from s2s.core.audio import AudioError
from s2s.core.errors import StageError
from s2s.models.downloading import FetchError
from s2s.models.store import StoreError

LACKING = 2
"""The exit code, as of a wrong command line."""


class LackingError(RuntimeError):
    """Another process of a measurement said what it lacks."""


TOLD = (
    AudioError,
    FetchError,
    FileNotFoundError,
    LackingError,
    NotADirectoryError,
    RegistryError,
    SettingError,
    StageError,
    StoreError,
)
"""What says by itself what to do, or which file is not there."""
_OURS = ("s2s", "tests")
_FOR_DEVELOPERS = ("test", "browser", "check")


def run_measurement(main: Callable[[], int | None]) -> int:
    """Run a measurement; returns its exit code, 2 when it lacks a package, a file or a folder."""
    try:
        return main() or 0
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", *_OURS):
            raise
        message = f"{package} is not installed. Install it: pip install '{_installed_by(package)}'"
    except TOLD as error:
        message = " ".join(str(error).split())
    print(f"error: {message}", file=sys.stderr)
    return LACKING


def need(*packages: str) -> None:
    """For what is imported later, or elsewhere. Raises ModuleNotFoundError for the first that is
    not installed."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def check_ended(what: str, code: int, last_words: str) -> None:
    """After another process of a measurement, of which this is the exit code and what it wrote to
    its standard error.

    Raises:
        LackingError: it lacked something, and said so.
        RuntimeError: it failed otherwise.
    """
    if code == LACKING:
        raise LackingError(last_words.strip().splitlines()[-1])
    if code:
        raise RuntimeError(f"{what} failed: {last_words[-2000:]}")


def existing_folder(text: str) -> Path:
    """A folder, for argparse."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return Path(text)


def existing_file(text: str) -> Path:
    """A file, for argparse."""
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    return Path(text)


def _installed_by(package: str) -> str:
    """The first extra of this program that brings a package; where none does, the package."""
    try:
        wanted = importlib.metadata.requires("s2s") or []
    except importlib.metadata.PackageNotFoundError:
        wanted = []
    for requirement in wanted:
        name = re.match(r"[\w-]+", requirement)
        extra = re.search(r"extra == ['\"]([\w-]+)", requirement)
        if name is None or extra is None or extra[1] in _FOR_DEVELOPERS:
            continue
        if name[0].replace("-", "_").lower() == package.lower():
            return f"s2s[{extra[1]}]"
    return package
