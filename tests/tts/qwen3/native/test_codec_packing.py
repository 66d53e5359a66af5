"""Weights packed for the kernel: padded to its registers, in panels, one behind the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.qwen3.codec.weights import Snake
from s2s.tts.qwen3.native.codec_packing import (
    Memory,
    pad_last,
    padded,
    panel_floats,
    with_padding,
)
from s2s.tts.qwen3.native.transformer import ThreadPool


@given(st.integers(1, 500))
def test_a_width_fills_whole_registers(width: int) -> None:
    assert padded(width) >= width
    assert padded(width) % 16 == 0
    assert padded(width) - width < 16


def test_zeros_are_put_behind_the_last_axis() -> None:
    values = np.ones((2, 3, 5))
    found = pad_last(values)
    assert found.shape == (2, 3, 16)
    assert found.sum() == values.sum()
    assert pad_last(found) is found
    rows = with_padding(np.ones((2, 5), np.float32)[:, ::2], 4)
    assert rows.tolist() == [[1, 1, 1, 0]] * 2
    assert rows.flags.c_contiguous


@pytest.fixture(scope="module")
def pool(kernel_cache: Path) -> ThreadPool:
    return ThreadPool(kernel_cache, 1)


def memory(pool: ThreadPool, floats: int = 4096) -> Memory:
    return Memory(pool, floats, "test", None, [])


def test_arrays_lie_one_behind_the_other_at_whole_registers(pool: ThreadPool) -> None:
    store = memory(pool)
    first, second = store.take(3), store.take(2, 4)
    assert not first.any()
    assert second.ctypes.data - first.ctypes.data == 4 * 16
    assert second.shape == (2, 4)
    rows = store.rows(lambda: np.arange(6.0).reshape(2, 3), (2, 3))
    assert rows.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_angles_of_a_snake_are_in_half_turns(pool: ThreadPool) -> None:
    store = memory(pool)
    snake = store.snake(lambda: Snake(np.full(3, np.pi), np.full(3, 2.0)), 3)
    frequency = np.ctypeslib.as_array(
        (np.ctypeslib.ctypes.c_float * 16).from_address(snake.frequency)
    )
    assert frequency.tolist() == [1.0] * 3 + [0.0] * 13


@pytest.mark.parametrize("out", [16, 48, 50, 100])
def test_a_matrix_lies_in_panels_of_48_columns(pool: ThreadPool, out: int) -> None:
    store = memory(pool, 20_000)
    matrix = np.random.default_rng(0).standard_normal((5, out))
    packed = store.pack((1, 5, out), lambda: ([matrix], np.arange(out, dtype=np.float64)))
    assert (packed.taps, packed.into, packed.out) == (1, 16, padded(out))
    count = -(-padded(out) // 48)
    assert panel_floats(16, padded(out)) == count * 48 * 16 + padded(out)
    panels = np.ctypeslib.as_array(
        (np.ctypeslib.ctypes.c_float * (count * 16 * 48)).from_address(packed.panels)
    ).reshape(count, 16, 48)
    columns = np.concatenate(list(panels), axis=1)
    np.testing.assert_allclose(columns[:5, :out], matrix, rtol=1e-6)
    assert not columns[5:].any()
    assert not columns[:, out:].any()
