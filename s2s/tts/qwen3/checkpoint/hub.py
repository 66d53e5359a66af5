"""From what a user names to a checkpoint folder on this machine: a path, a short name, a hub id.

Only configs, tokenizer files and safetensors are ever fetched. Downloads go through the hub
client: it shows progress, resumes, keeps its own cache and honours ``HF_HUB_OFFLINE``.
"""

# pyright: reportUnknownVariableType=false
# huggingface_hub leaves arguments open.
from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from s2s.tts.qwen3.checkpoint.gguf import refuse_foreign
from s2s.tts.qwen3.errors import HubError

PUBLISHED = {
    name.lower(): f"Qwen/Qwen3-TTS-12Hz-{name}"
    for name in (
        "0.6B-Base",
        "0.6B-CustomVoice",
        "1.7B-Base",
        "1.7B-CustomVoice",
        "1.7B-VoiceDesign",
    )
}
"""Short names of the published models, and their hub ids."""

PUBLISHED_SPEAKERS = (
    "aiden",
    "dylan",
    "eric",
    "ono_anna",
    "ryan",
    "serena",
    "sohee",
    "uncle_fu",
    "vivian",
)
"""The trained speakers of both CustomVoice models."""

_FETCHED = ("*.json", "*.txt", "*.safetensors")
CODEC_FOLDER = "speech_tokenizer"
"""Of a checkpoint: its codec."""
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_SHA1_DIGITS, _SHA256_DIGITS = 40, 64
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """A checkpoint folder in the official layout, and what to call it."""

    name: str
    folder: Path


def local(source: str | Path, converted: Path) -> Source | None:
    """The folder behind a path or the name of an entry in ``converted``, the folder of converted
    checkpoints; None when it is neither. Raises GGUFError for a GGUF file of another project."""
    text = str(source)
    path = Path(text).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        refuse_foreign(path)
    if path.is_dir():
        foreign = sorted(path.glob("*.gguf"))
        if foreign and not (path / "config.json").is_file():
            refuse_foreign(foreign[0])
        return Source(path.resolve().name, path)
    return Source(text, converted / text) if _is_entry(converted, text) else None


def hub_id(source: str | Path) -> str:
    """The hub id behind the short name of a published model, or behind a hub id.

    Raises HubError for anything else, and for a `Path`: a missing folder is no hub id.
    """
    text = str(source)
    found = PUBLISHED.get(text.lower(), text)
    if isinstance(source, Path) or not _HUB_ID.fullmatch(found):
        raise HubError(
            f"{text}: no such folder, converted checkpoint or hub id; published models are "
            f"{', '.join(PUBLISHED)}"
        )
    return found


def find_checkpoint(source: str, converted: Path) -> Path:
    """The folder of a checkpoint by path, name or hub id, fetched if need be. Raises HubError."""
    return (local(source, converted) or fetch(hub_id(source))).folder


def find_codec(source: str | Path, converted: Path) -> Path:
    """The codec's folder alone of a checkpoint by path, name or hub id, fetched if need be; a
    folder that is a codec's is its own. Raises HubError."""
    found = local(source, converted)
    if found is None:
        folder = _fetch(hub_id(source), (f"{CODEC_FOLDER}/*",))
        for file in sorted((folder / CODEC_FOLDER).rglob("*")):
            _check(file)
        return folder / CODEC_FOLDER
    inner = found.folder / CODEC_FOLDER
    return inner if inner.is_dir() else found.folder


def fetch(hub_id: str) -> Source:
    """The folder of a hub repository in the hub client's cache, fetched unless it is there, and
    every file checked against its hash. Raises HubError."""
    folder = _fetch(hub_id)
    for file in sorted(folder.rglob("*")):
        _check(file)
    return Source(hub_id.partition("/")[2], folder)


def _is_entry(converted: Path, name: str) -> bool:
    return name not in {"", ".", ".."} and "/" not in name and (converted / name).is_dir()


def _fetch(hub_id: str, wanted: tuple[str, ...] = _FETCHED) -> Path:
    """The folder of a hub repository in the hub client's cache, with the wanted files."""
    try:
        from huggingface_hub import constants, snapshot_download
    except ImportError as error:
        raise HubError(
            f"{hub_id} must be fetched, which needs the hub client: pip install 's2s[hub]'; or "
            "give a folder"
        ) from error
    try:
        return Path(snapshot_download(hub_id, allow_patterns=list(wanted)))
    except (OSError, ValueError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if constants.HF_HUB_OFFLINE:
            reason = "HF_HUB_OFFLINE forbids it"
        raise HubError(
            f"{hub_id} is not on this machine and cannot be fetched ({reason}); connect and try "
            "again, or give the folder of a download"
        ) from error


def _check(file: Path) -> None:
    """Compare a cached file with the hash that names its blob.

    The hub client stores a file under its SHA-256 (large files) or its git hash (small ones) and
    links to it; a file that is no such link is left alone.
    Raises HubError when the content is another, which a disk error or a broken copy brings about.
    """
    blob = file.resolve()
    expected = blob.name
    if not file.is_symlink() or not re.fullmatch(r"[0-9a-f]+", expected):
        return
    if len(expected) == _SHA256_DIGITS:
        digest = hashlib.sha256()
    elif len(expected) == _SHA1_DIGITS:
        digest = hashlib.sha1(usedforsecurity=False)
        digest.update(b"blob %d\0" % blob.stat().st_size)
    else:
        return
    with blob.open("rb") as content:
        while block := content.read(_BLOCK_BYTES):
            digest.update(block)
    if digest.hexdigest() != expected:
        raise HubError(f"{blob} is damaged; delete it and try again, it is then fetched anew")
