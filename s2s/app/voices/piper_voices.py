"""Piper voices on this machine and where they are published: what `voices list` and `add` need."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from s2s.models.store import Store, StoreError
from s2s.tts.vits import VitsVoiceError, config_path, read_config

HUB = "rhasspy/piper-voices"
"""Where the Piper project publishes its voices."""


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
        name: `piper:en_US-joe-medium`, or the same without `piper:`.
        store: fetches and keeps.

    Raises:
        StoreError: not a voice's name, or it can't be fetched.
    """
    address = published_address(name)
    store.path(f"{address}.json")
    return store.path(address)


def published_address(name: str) -> str:
    """Where a voice is published: `hf://rhasspy/piper-voices/en/en_US/joe/medium/...onnx`.

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
    return f"hf://{HUB}/{language}/{locale}/{speaker}/{quality}/{plain}.onnx"
