"""Piper voices on this machine and where they are published: what `voices list` and `add` need."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from s2s.models.store import Store, StoreError
from s2s.tts.vits import VitsVoiceError, config_path, read_config

HUB = "rhasspy/piper-voices"
"""Where the Piper project publishes its voices."""
FAST_HUB = "datasets/mush42/piper-rt"
"""Where the Sonata project publishes voices that are cut in two, as archives (seed 001)."""
_PARTS = ("encoder.onnx", "decoder.onnx")


@dataclass(frozen=True, slots=True)
class Installed:
    """A voice on this machine."""

    path: Path
    language: str
    sample_rate_hz: int
    speakers: int
    split: bool
    """Ready to stream without being cut first."""


def installed_voices(folders: Iterable[Path]) -> list[Installed]:
    """Every voice below `folders`: an .onnx file with a config beside it that can be read."""
    found: dict[Path, Installed] = {}
    for folder in folders:
        for model in sorted(folder.rglob("*.onnx")):
            if ".split-" in model.parent.name or model.name == "decoder.onnx":
                continue
            try:
                config = read_config(config_path(model))
            except VitsVoiceError:
                continue
            split = any(model.parent.glob(f"{model.name}.split-*/split.json"))
            found[model] = Installed(
                model, config.language, config.sample_rate_hz, config.speaker_count, split
            )
    return list(found.values())


def add_voice(name: str, store: Store) -> Path:
    """Fetch a published voice and its config; gives the model's path.

    Args:
        name: `piper:en_US-joe-medium`, or the same without `piper:`; `en_US-lessac+RT-medium` is
            one that was cut in two by who exported it.
        store: fetches and keeps.

    Raises:
        StoreError: not a voice's name, or it can't be fetched.
    """
    address = published_address(name)
    if address.endswith(".tar.gz"):
        plain = name.removeprefix("piper:")
        return unpack_voice(store.path(address), store.folder("models") / plain)
    store.path(f"{address}.json")
    return store.path(address)


def unpack_voice(archive: Path, folder: Path) -> Path:
    """Take a "+RT" voice out of its archive: two graphs and a config; gives the encoder's path.

    Raises:
        StoreError: not such an archive.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: set[str] = set()
    try:
        with tarfile.open(archive) as pack:
            for member in pack:
                name = Path(member.name).name
                source = pack.extractfile(member) if member.isfile() else None
                if source is not None and (name in _PARTS or name.endswith(".json")):
                    kept = name if name in _PARTS else "encoder.onnx.json"
                    (folder / kept).write_bytes(source.read())
                    found.add(kept)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise StoreError(f"{archive}: not the archive of a voice ({error}).") from error
    if lacking := {*_PARTS, "encoder.onnx.json"} - found:
        raise StoreError(f"{archive}: not the archive of a voice: no {', '.join(sorted(lacking))}.")
    return folder / "encoder.onnx"


def published_address(name: str) -> str:
    """Where a voice is published: `hf://rhasspy/piper-voices/en/en_US/joe/medium/...onnx`, or for a
    "+RT" voice its archive.

    Raises:
        StoreError: not a voice's name.
    """
    plain = name.removeprefix("piper:")
    match = re.fullmatch(r"(([a-z]{2,3})_[A-Z]{2})-([\w+]+)-(x_low|low|medium|high)", plain)
    if match is None:
        raise StoreError(
            f"{name}: a Piper voice is named language_COUNTRY-name-quality, "
            "such as piper:en_US-joe-medium. All names: https://huggingface.co/rhasspy/piper-voices"
        )
    locale, language, speaker, quality = match.groups()
    if speaker.endswith("+RT"):
        return f"hf://{FAST_HUB}/{plain}.tar.gz"
    return f"hf://{HUB}/{language}/{locale}/{speaker}/{quality}/{plain}.onnx"
