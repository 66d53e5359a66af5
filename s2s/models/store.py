"""Model files by name, on this machine: fetched once, checked, placed atomically.

A name is one of the manifest (`whisper-base`), one file of it (`whisper-base/model.bin`), a hub
address (`hf://owner/repo[@revision][/file]`) or a path. Nothing is fetched before it is asked for.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import platformdirs

from s2s.core.untyped import is_list, is_object
from s2s.models.downloading import FetchError, Progress, offline, silent
from s2s.models.fetch import Fetcher
from s2s.models.hub import HUB_FOLDER, Hub, hub_folder
from s2s.models.in_use import InUse
from s2s.models.manifest import HubPart, Model, ModelFile, Source, read_manifest
from s2s.system.filelock import locked
from s2s.system.whole_file import write_whole

State = Literal["present", "missing", "damaged"]

_CHECKED = ".checked.json"
_LIKE_A_FILE = re.compile(r"\.[A-Za-z]\w*$")
"""A name with a suffix; `qwen3-1.7b` has none."""
_HUB = re.compile(
    r"hf://(?P<repo>(datasets/)?[^/@]+/[^/@]+)(@(?P<revision>[^/]+))?(/(?P<file>.+))?"
)


class StoreError(RuntimeError):
    """A model that is not to be had. The message names it and says what to do."""


def home() -> Path:
    """Where this program keeps files: `S2S_HOME`, else the user's cache folder of the platform."""
    chosen = os.environ.get("S2S_HOME", "")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("s2s", False)


class Store:
    """Model files by name. Safe to use from several threads and processes at once."""

    def __init__(
        self,
        cache_dir: str | Path | None = None,
        *,
        progress: Progress = silent,
        manifest: Mapping[str, Model] | None = None,
    ) -> None:
        """
        Args:
            cache_dir: root of the cache; None is `home()`.
            progress: told how far each download is.
            manifest: the known models; None is the built-in manifest, joined by a `models.yaml`
                in the cache folder where there is one (its models win).
        """
        self.root = Path(cache_dir).expanduser() if cache_dir else home()
        self.progress = progress
        self._hub = Hub()
        self._in_use = InUse(self.root)
        self._manifest = dict(self._read_manifests() if manifest is None else manifest)

    def _read_manifests(self) -> dict[str, Model]:
        own = self.root / "models.yaml"
        return read_manifest() | (read_manifest(own) if own.is_file() else {})

    @property
    def models(self) -> tuple[Model, ...]:
        """Every model of the manifest."""
        return tuple(self._manifest.values())

    def folder(self, name: str) -> Path:
        """A folder of the cache for files made from models (`split`, `voices`); made if missing."""
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def path(self, name: str | Path) -> Path:
        """The file or folder behind `name`, fetched if it is not here yet.

        Args:
            name: a model of the manifest gives its one file, or the folder of its files;
                `model/file` gives one file; `hf://...` a file or folder of the hub; what looks
                like a path (absolute, starting with `.` or `~`, or existing) is taken as it is.

        What lies in the cache counts as used by this program from then on, until the store is gone.

        Raises:
            StoreError: unknown name, no such path, not fetchable, or a damaged file.
        """
        found = self._found(name)
        self.uses(found)
        return found

    def uses(self, path: Path) -> None:
        """What lies at `path` is used by this program, for as long as the store is there."""
        self._in_use.hold(path)

    def _found(self, name: str | Path) -> Path:
        text = str(name)
        model_name, _, file_name = text.partition("/")
        if model_name in self._manifest:
            model = self._manifest[model_name]
            folder = self._complete(model)
            names = [file.name for file in model.files]
            if file_name:
                if file_name not in names:
                    raise StoreError(f"{text}: {model_name} has the files {', '.join(names)}.")
                return folder / file_name
            return folder / names[0] if len(names) == 1 else folder
        if text.startswith("hf://"):
            return self._from_hub(text)
        path = Path(text).expanduser()
        if path.exists():
            return path
        if path.is_absolute() or text[:1] in ".~" or os.sep in text or _LIKE_A_FILE.search(text):
            raise StoreError(
                f"{text}: no such file or folder, and no model of that name.{self._near(text)}"
            )
        raise StoreError(self._unknown(text))

    def select(self, names: Iterable[str]) -> tuple[Model, ...]:
        """The models meant by names of models or groups, each once, in the manifest's order.

        Raises:
            StoreError: a name that is neither.
        """
        wanted: set[str] = set()
        groups = {group for model in self.models for group in model.groups}
        for name in names:
            if name in self._manifest:
                wanted.add(name)
            elif name in groups:
                wanted.update(model.name for model in self.models if name in model.groups)
            else:
                raise StoreError(self._unknown(name))
        return tuple(model for model in self.models if model.name in wanted)

    def state(self, model: Model) -> State:
        """Whether the model's files are here and whole. Reads only what changed since last time."""
        folder = self.folder_of(model)
        checked = _read_checked(folder)
        for file in model.files:
            if not (folder / file.name).is_file():
                return "missing"
            if _damage(folder / file.name, file, checked):
                return "damaged"
        return "present"

    def pull(self, model: Model) -> Path:
        """Fetch what is missing of a model and replace what is damaged; returns its folder.

        Raises:
            StoreError: no source gave the right file.
        """
        folder = self.folder_of(model)
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / ".lock"):
            checked = _read_checked(folder)
            wrong = [
                file
                for file in model.files
                if not (folder / file.name).is_file() or _damage(folder / file.name, file, checked)
            ]
            if wrong:
                self._fetch(model, wrong, folder)
        return folder

    def _complete(self, model: Model) -> Path:
        """The model's folder with every file in it; a damaged file is an error, not a download."""
        folder = self.folder_of(model)
        checked = _read_checked(folder)
        for file in model.files:
            path = folder / file.name
            if not path.is_file():
                return self.pull(model)
            if wrong := _damage(path, file, checked):
                raise StoreError(
                    f"{path}: {wrong}. Fetch it again: python -m s2s models pull {model.name}"
                )
        return folder

    def _fetch(self, model: Model, files: list[ModelFile], folder: Path) -> None:
        scratch = folder / ".partial"
        _clear_scratch(scratch)
        fetcher = Fetcher(scratch, self.progress, self._hub)
        for file in files:
            reasons: list[str] = []
            if not any(self._place(file, i, fetcher, folder, reasons) for i in _indices(file)):
                raise StoreError(_failure(model, file, folder, reasons))
        shutil.rmtree(scratch, ignore_errors=True)

    def _place(
        self, file: ModelFile, source: int, fetcher: Fetcher, folder: Path, reasons: list[str]
    ) -> bool:
        """Try one source of `file`: join its parts, check, move into place. Adds why it failed."""
        joined = folder / ".partial" / f"{file.name}.joined"
        parts = file.sources[source]
        try:
            wanted = file.sha256 if len(parts) == 1 else None
            digest = _join((fetcher.fetch(part, wanted) for part in parts), joined)
        except (FetchError, OSError) as error:
            reasons.append(str(error))
            return False
        size = joined.stat().st_size
        kept = _kept(_read_checked(folder), file)
        wanted = file.sha256 or kept or self._announced(parts)
        if wanted is not None and digest != wanted:
            joined.unlink()
            shutil.rmtree(folder / ".partial" / HUB_FOLDER, ignore_errors=True)
            reasons.append(_mismatch(file, wanted, size, digest))
            return False
        os.replace(joined, folder / file.name)
        _note_checked(folder, file, digest)
        return True

    def _announced(self, source: Source) -> str | None:
        """What the source itself says a file must be that the manifest has no hash of."""
        match source:
            case (HubPart() as part,):
                try:
                    return self._hub.announced(part).sha256
                except FetchError:  # it lay in the client's cache
                    return None
            case _:
                return None

    def _from_hub(self, address: str) -> Path:
        repo, revision, file = _parts(address)
        try:
            if file is None:
                return hub_folder(repo, revision)
            self.root.mkdir(parents=True, exist_ok=True)
            fetcher = Fetcher(self.root, self.progress, self._hub)
            return fetcher.fetch(HubPart(repo, file, revision or "main"))
        except FetchError as error:
            raise StoreError(f"{error}. Or give a path to the file.") from error

    def folder_of(self, model: Model) -> Path:
        """Where the model's files lie, or would."""
        return self.root / "models" / model.name

    def _unknown(self, name: str) -> str:
        return f"no model named {name}.{self._near(name)} `python -m s2s models list` shows them."

    def _near(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._manifest, n=3)
        return f" Did you mean {' or '.join(near)}?" if near else ""


def hub_part(address: str) -> HubPart:
    """The file of the hub behind `hf://owner/repo[@revision]/file`.

    Raises:
        StoreError: it is no such address.
    """
    repo, revision, file = _parts(address)
    if file is None:
        raise StoreError(f"{address}: names no file; hf://owner/repo[@revision]/file does.")
    return HubPart(repo, file, revision or "main")


def _parts(address: str) -> tuple[str, str | None, str | None]:
    match = _HUB.fullmatch(address)
    if match is None:
        raise StoreError(f"{address}: a hub address is hf://owner/repo[@revision][/file].")
    return match["repo"], match["revision"], match["file"]


def _clear_scratch(scratch: Path) -> None:
    """Make the scratch folder, or drop what an earlier run left in it; hub downloads resume."""
    scratch.mkdir(exist_ok=True)
    for path in scratch.iterdir():
        if path.is_dir() and path.name != HUB_FOLDER:
            shutil.rmtree(path, ignore_errors=True)
        elif path.is_file():
            path.unlink()


def _indices(file: ModelFile) -> range:
    return range(len(file.sources))


def _failure(model: Model, file: ModelFile, folder: Path, reasons: list[str]) -> str:
    if offline():
        return (
            f"{model.name}: {file.name} is not on this machine ({folder}) and HF_HUB_OFFLINE "
            f"forbids fetching it. Unset it and run: python -m s2s models pull {model.name}"
        )
    tried = "; ".join(reasons) or "the manifest names no source"
    return f"{model.name}: {file.name} cannot be fetched: {tried}. Check the network and try again."


def _mismatch(file: ModelFile, wanted: str, size_bytes: int, digest: str) -> str:
    size = f" ({file.size_bytes} bytes)" if file.sha256 else ""
    return f"wrong content: expected SHA-256 {wanted}{size}, got {digest} ({size_bytes} bytes)"


def _join(parts: Iterator[Path], target: Path) -> str:
    """Write the parts one after another to `target`; returns the SHA-256 of the whole."""
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for part in parts:
            with part.open("rb") as source:
                while chunk := source.read(1 << 20):
                    digest.update(chunk)
                    out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def _damage(path: Path, file: ModelFile, checked: Mapping[str, object]) -> str:
    """What is wrong with a file that is here, "" for nothing. Hashes it unless that was done.

    A file whose hash the manifest does not have must be what its first download brought.
    """
    size = path.stat().st_size
    wanted = file.sha256 or _kept(checked, file)
    right_size = file.sha256 is None or size == file.size_bytes
    if wanted and right_size and checked.get(file.name) == _fingerprint(path, wanted):
        return ""
    with path.open("rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()
    if wanted and digest != wanted:
        return _mismatch(file, wanted, size, digest)
    _note_checked(path.parent, file, digest)
    return ""


def _kept(checked: Mapping[str, object], file: ModelFile) -> str | None:
    """The hash of what was here before."""
    known = checked.get(file.name)
    return known[0] if is_list(known) and known and isinstance(known[0], str) else None


def _fingerprint(path: Path, sha256: str) -> list[object]:
    """What tells that a file is the one that was hashed before: its hash, and time written."""
    return [sha256, path.stat().st_mtime_ns]


def _read_checked(folder: Path) -> dict[str, object]:
    try:
        checked = json.loads((folder / _CHECKED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return checked if is_object(checked) else {}


def _note_checked(folder: Path, file: ModelFile, digest: str) -> None:
    """Remember that a file was hashed; a folder that cannot be written is hashed each time."""
    checked = _read_checked(folder) | {file.name: _fingerprint(folder / file.name, digest)}
    with suppress(OSError):
        write_whole(folder / _CHECKED, json.dumps(checked, indent=1))
