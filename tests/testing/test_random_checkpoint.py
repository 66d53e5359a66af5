"""The random checkpoints are always the same bytes: golden values depend on them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

KINDS = ("0.6b-base", "0.6b-customvoice", "1.7b-base", "1.7b-customvoice", "1.7b-voicedesign")
GOLDEN = Path(__file__).parents[1] / "data" / "qwen3" / "checksums.json"


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_are_those_the_golden_values_were_made_from(
    kind: str, tiny_qwen3: Callable[[str], Path]
) -> None:
    folder = tiny_qwen3(kind)
    made = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("model.safetensors", "speech_tokenizer/model.safetensors", "vocab.json")
    }
    assert made == json.loads(GOLDEN.read_text())[kind]
