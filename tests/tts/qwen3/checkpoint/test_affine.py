"""MLX's affine quantisation: what is stored, and what comes back."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.affine import (
    GROUP,
    affine_dequantize,
    affine_quantize,
    bits_of,
    from_bf16,
    row_words,
    to_bf16,
)

BITS = (2, 3, 4, 5, 6, 8)


def matrix(rows: int = 7, groups: int = 3) -> np.ndarray:
    random = np.random.default_rng(5)
    return random.standard_normal((rows, groups * GROUP), np.float32)


@pytest.mark.parametrize("bits", BITS)
def test_what_comes_back_is_half_a_step_away_at_most(bits: int) -> None:
    rows = matrix()
    stored = affine_quantize(rows, bits)
    assert stored.values.shape == (7, row_words(rows.shape[1], bits))
    scales, biases = from_bf16(stored.scales), from_bf16(stored.biases)
    back = affine_dequantize(stored.values, scales, biases)
    step = np.repeat(scales, GROUP, axis=1)
    # The ends of a group are moved by the rounding of its scale and bias to eight bits.
    ends = np.repeat(np.abs(rows.reshape(7, -1, GROUP)).max(2), GROUP, axis=1) * 2.0**-7
    assert (np.abs(back - rows) <= step / 2 + ends).all()
    assert np.abs(back - rows).max() > 0


@pytest.mark.parametrize("bits", BITS)
def test_codes_lie_one_behind_the_other_lowest_bit_first(bits: int) -> None:
    """A group whose smallest value is its bias and whose step is one: values are codes."""
    most = (1 << bits) - 1
    codes = np.arange(GROUP) * 7 % (most + 1)
    codes[:2] = 0, most
    stored = affine_quantize(codes[None].astype(np.float32), bits)
    assert from_bf16(stored.scales).tolist() == [[1.0]]
    assert from_bf16(stored.biases).tolist() == [[0.0]]
    whole = sum(int(word) << (32 * at) for at, word in enumerate(stored.values[0]))
    assert [whole >> (bits * at) & most for at in range(GROUP)] == codes.tolist()


def test_a_row_of_one_value_is_that_value() -> None:
    for value in (0.0, -1.5, 3.0):
        stored = affine_quantize(np.full((1, GROUP), value, np.float32), 4)
        back = affine_dequantize(stored.values, from_bf16(stored.scales), from_bf16(stored.biases))
        assert (back == value).all()


def test_rows_that_do_not_divide_are_refused() -> None:
    with pytest.raises(ValueError, match="100 values do not divide into groups of 64"):
        affine_quantize(np.zeros((1, 100), np.float32), 4)


@pytest.mark.parametrize(
    ("words", "groups", "bits"),
    [(8, 1, 4), (12, 1, 6), (32, 2, 8), (8, 0, 0), (9, 1, 0), (64, 1, 0)],
)
def test_bits_follow_from_shapes(words: int, groups: int, bits: int) -> None:
    assert bits_of(words, groups) == bits


def test_bfloat16_rounds_to_nearest_even() -> None:
    values = np.array([1.0, 1.00390625, 1.01171875, -2.5, 0.0], np.float32)
    assert from_bf16(to_bf16(values)).tolist() == [1.0, 1.0, 1.015625, -2.5, 0.0]
