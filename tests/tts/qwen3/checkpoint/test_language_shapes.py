"""The tensors of a language model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.language_shapes import language_model_shapes
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec


@pytest.mark.parametrize("kind", ["0.6b-base", "1.7b-base"])
def test_they_are_those_of_a_checkpoint(kind: str, tiny_qwen3: Callable[[str], Path]) -> None:
    folder = tiny_qwen3(kind)
    shapes, weights = language_model_shapes(read_spec(folder)), Checkpoint(folder)
    assert len(shapes) == len(set(shapes)) > 80
    others = ("speaker_encoder.",)
    assert set(shapes) == {name for name in weights.names if not name.startswith(others)}
    assert {name: weights.shape(name) for name in shapes} == shapes
