"""The small VITS voices of tests/data/vits (made by make_test_vits.py) in folders of their own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

VOICES = Path(__file__).parents[1] / "data" / "vits"

LETTERS = {symbol: [i] for i, symbol in enumerate("_^$ .,!?'abcdefghijklmnopqrstuvwxyz")}
"""Phoneme numbers of a voice whose phonemes are letters."""


def voice_folder(parent: Path, name: str, **config: object) -> Path:
    """A folder in `parent` with a copy of the voice `name`, one file or a pair, and its config.

    Args:
        parent: where.
        name: "plain", "speakers", "pair", ...
        config: fields of the config; letters are the phonemes unless it says otherwise.
    """
    folder = parent / name
    source = VOICES / name
    if source.is_dir():
        shutil.copytree(source, folder)
    else:
        folder.mkdir(parents=True)
        shutil.copy(VOICES / f"{name}.onnx", folder)
    told = {"phoneme_id_map": LETTERS, "phoneme_type": "text", **config}
    (folder / "voice.json").write_text(json.dumps(told), encoding="utf-8")
    return folder
