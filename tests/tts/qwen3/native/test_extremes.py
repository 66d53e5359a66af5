"""Products of the kernel at the ends of what floats and rows can be: no crash, no overflow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.arrays import Floats
from s2s.tts.qwen3.checkpoint import gguf
from s2s.tts.qwen3.checkpoint.gguf import GGUFFile, NewTensor
from s2s.tts.qwen3.checkpoint.quant import TYPES
from s2s.tts.qwen3.native.compiling import common_flags
from s2s.tts.qwen3.native.transformer import Matrices, Stored, ThreadPool


def matrices(weights: Floats, pool: ThreadPool, folder: Path) -> Matrices:
    raw = np.ascontiguousarray(weights, np.float32).view(np.uint8)
    tensor = NewTensor("m", weights.shape, TYPES["f32"], lambda: iter([raw]))
    gguf.write(folder / "m.gguf", {}, [tensor])
    shape = (weights.shape[0], weights.shape[1])
    return Matrices(pool, {"m": Stored.whole(GGUFFile(folder / "m.gguf"), "m", shape)})


@pytest.fixture
def pool(kernel_cache: Path) -> ThreadPool:
    return ThreadPool(kernel_cache, 2)


@pytest.mark.parametrize("size", [0.0, 1e-45, 1e-40, 1e-38, 3e-37, 1e-36, 1.0, 1e30])
def test_a_block_of_any_size_is_quantised(size: float, pool: ThreadPool, tmp_path: Path) -> None:
    """Below 3.7e-37 the inverse of a scale was infinite, and the sum of its bytes overflowed."""
    product = matrices(np.ones((16, 64), np.float32), pool, tmp_path)
    values = (size * np.linspace(-1, 1, 64)).astype(np.float32)
    values[0] = 0
    found = product.product("m", values)
    assert np.abs(found - values.sum(dtype=np.float64)).max() <= max(1e-35, 0.05 * size * 64)


@pytest.mark.parametrize("size", [1e-45, 1e-39, 1e-36, 1.0])
def test_a_weight_of_any_size_is_quantised(size: float, pool: ThreadPool, tmp_path: Path) -> None:
    weights = np.zeros((16, 64), np.float32)
    weights[:, 1] = size
    found = matrices(weights, pool, tmp_path).product("m", np.ones(64, np.float32))
    assert np.abs(found - size).max() <= max(1e-6, 0.01 * size)


def test_a_very_wide_row_is_no_crash(pool: ThreadPool, tmp_path: Path) -> None:
    """Nothing on the stack has the size of a row."""
    width = 1 << 21
    product = matrices(np.ones((1, width), np.float32), pool, tmp_path)
    assert product.product("m", np.ones(width, np.float32))[0] == pytest.approx(width, rel=1e-3)


def test_the_compiler_refuses_what_is_sized_at_run_time_on_the_stack() -> None:
    assert "-Werror=vla" in common_flags()
