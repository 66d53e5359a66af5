"""The Hugging Face hub: what it says of a file, the file itself, a whole repository.

`HF_ENDPOINT` names another hub, `HF_HUB_OFFLINE` none at all. Knows no manifest and no cache but
the client's own.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# huggingface_hub leaves arguments open.
from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from s2s.models.downloading import FetchError, Progress, offline
from s2s.models.manifest import HubPart

if TYPE_CHECKING:
    from tqdm import tqdm

HUB_FOLDER = "hub"
"""Folder of the scratch folder that holds downloads from the hub, which resume."""

DATASETS = "datasets/"
"""Before the name of a repository that the hub lists as a data set."""

ANSWER_S = 6.0
"""Longest wait for what the hub says of a file; a hub that is silent so long is not there."""


@dataclass(frozen=True, slots=True)
class Announced:
    """What the hub says of a file."""

    size_bytes: int | None
    sha256: str | None
    """Of large files, which the hub keeps by this; None of small ones."""


class Hub:
    """The hub, until it does not answer: then it is not asked again, and other sources come at
    once. One for all files of a `Store`."""

    def __init__(self) -> None:
        self._silent = ""
        """Why it is not asked any more."""

    def announced(self, part: HubPart) -> Announced:
        """What the hub says of a file, without fetching it.

        Raises:
            FetchError: no client, not allowed, no answer, or no such file.
        """
        address = f"hf://{part.repo}/{part.file}"
        if offline():
            raise FetchError(f"{address}: HF_HUB_OFFLINE forbids downloads")
        if self._silent:
            raise FetchError(f"{address}: {self._silent}")
        with _hub_errors(address):
            import huggingface_hub
            from huggingface_hub.errors import HfHubHTTPError

            repo, kind = _named(part.repo)
            url = huggingface_hub.hf_hub_url(
                repo, part.file, revision=part.revision, endpoint=_endpoint(), repo_type=kind
            )
            try:
                found = huggingface_hub.get_hf_file_metadata(url, timeout=ANSWER_S)
            except (HfHubHTTPError, ValueError):
                raise
            except Exception as error:
                words = str(error).strip().splitlines()
                self._silent = f"the hub does not answer ({words[0] if words else repr(error)})"
                raise FetchError(f"{address}: {self._silent}") from error
        etag = found.etag or ""
        return Announced(found.size, etag if re.fullmatch(r"[0-9a-f]{64}", etag) else None)

    def fetch(
        self, part: HubPart, scratch: Path, progress: Progress, sha256: str | None = None
    ) -> Path:
        """The file: in the client's own cache if it is there, else below `scratch`.

        Args:
            part: which.
            scratch: an existing folder.
            progress: told how far the download is.
            sha256: what it must be; another one is not fetched at all.

        Raises:
            FetchError: as `announced`, or the hub's file is another one.
        """
        address = f"hf://{part.repo}/{part.file}"
        with _hub_errors(address):
            import huggingface_hub

            repo, kind = _named(part.repo)
            cached = huggingface_hub.try_to_load_from_cache(
                repo, part.file, revision=part.revision, repo_type=kind
            )
            if isinstance(cached, str):
                return Path(cached)
            local_dir = scratch / HUB_FOLDER / _folder_name(part)
            if (local_dir / part.file).is_file():  # it was moved there whole
                return local_dir / part.file
            announced = self.announced(part)
            if sha256 and announced.sha256 and announced.sha256 != sha256:
                raise FetchError(
                    f"{address}: the hub has another file: expected SHA-256 {sha256}, "
                    f"it says {announced.sha256}"
                )
            download = cast("Callable[..., str]", huggingface_hub.hf_hub_download)
            bars: dict[str, object] = {}
            if "tqdm_class" in inspect.signature(download).parameters:
                bars["tqdm_class"] = _bar(address, announced.size_bytes or 0, progress)
            return Path(
                download(
                    repo,
                    part.file,
                    repo_type=kind,
                    revision=part.revision,
                    local_dir=local_dir,
                    endpoint=_endpoint(),
                    **bars,
                )
            )


def hub_folder(repo: str, revision: str | None = None) -> Path:
    """A whole repository of the hub, in the hub client's own cache.

    Raises:
        FetchError: no hub client, no such repository, or no network and not in the cache.
    """
    with _hub_errors(f"hf://{repo}"):
        import huggingface_hub

        return Path(
            huggingface_hub.snapshot_download(repo, revision=revision, endpoint=_endpoint())
        )


def _endpoint() -> str | None:
    """Another hub than the client's own; the client reads the variable only when it is loaded."""
    return os.environ.get("HF_ENDPOINT") or None


def _named(repo: str) -> tuple[str, str | None]:
    """The hub's own name of a repository, and its kind where it is no model."""
    plain = repo.removeprefix(DATASETS)
    return plain, None if plain == repo else "dataset"


def _folder_name(part: HubPart) -> str:
    """A folder for the downloads of one repository at one revision."""
    return f"{part.repo}@{part.revision}".replace("/", "--")


def _bar(what: str, total_bytes: int, progress: Progress) -> type[tqdm[object]]:
    """A bar for the hub client that draws nothing and tells `progress`."""
    from tqdm import tqdm

    class _Told(tqdm):  # pyright: ignore[reportMissingTypeArgument]
        def __init__(self, *_: object, initial: int = 0, **__: object) -> None:
            super().__init__(disable=True)
            self._done = initial
            progress(what, initial, total_bytes)

        def update(self, n: float | None = 1) -> bool | None:
            self._done += int(n or 0)
            progress(what, self._done, total_bytes)
            return None

    return _Told


@contextmanager
def _hub_errors(address: str) -> Generator[None, None, None]:
    """Turn what the hub client raises (all OSError or ValueError) into a FetchError."""
    try:
        yield
    except ImportError as error:
        raise FetchError(f"{address}: needs the hub client: pip install 's2s[hub]'") from error
    except (OSError, ValueError) as error:
        raise FetchError(f"{address}: {str(error).strip().splitlines()[0]}") from error
