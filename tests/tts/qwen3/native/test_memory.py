"""Memory for packed weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.native.kept import KeptWeights, Origin
from s2s.tts.qwen3.native.library import load_kernel
from s2s.tts.qwen3.native.memory import WeightMemory

WEIGHTS = np.random.default_rng(3).integers(0, 256, 9 << 20).astype(np.uint8)


Damage = Callable[[bytes], bytes]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """What weights were made from."""
    path = tmp_path / "model.gguf"
    path.write_bytes(b"weights")
    return path


def kept(
    source: Path, part: str = "talker", kernel: str = "qwen3-1", layout: int = 0
) -> KeptWeights:
    return KeptWeights(source.parent / f"{kernel}.so", part, Origin.of(source), layout)


def flip(at: int) -> Damage:
    def damaged(content: bytes) -> bytes:
        changed = bytearray(content)
        changed[at] ^= 16
        return bytes(changed)

    return damaged


def test_memory_is_of_zeros_where_a_file_was_damaged(source: Path, kernel_cache: Path) -> None:
    lib = load_kernel(kernel_cache)
    kept(source).write(WEIGHTS)
    whole = WeightMemory(lib, WEIGHTS.size, 2, kept(source))
    assert whole.filled
    np.testing.assert_array_equal(whole.values, WEIGHTS)
    path = kept(source).path
    path.write_bytes(flip(-1)(path.read_bytes()))
    mended = WeightMemory(lib, WEIGHTS.size, 2, kept(source))
    assert not mended.filled
    assert not mended.values.any()
    mended.values[:] = WEIGHTS
    mended.keep()
    assert WeightMemory(lib, WEIGHTS.size, 2, kept(source)).filled
