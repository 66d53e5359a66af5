"""The quantisations of the MLX core."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.affine import affine_quantize
from s2s.tts.qwen3.mlx.quant import AFFINE_MIXES, DEFAULT_MIX, predictor_default


def test_a_name_says_the_bits() -> None:
    assert list(AFFINE_MIXES) == ["mlx-f32", "mlx-bf16", "mlx-8", "mlx-6", "mlx-4"]
    assert AFFINE_MIXES[DEFAULT_MIX].bits == 6
    assert [mix.whole for mix in AFFINE_MIXES.values()] == [True, True, False, False, False]
    assert [mix.exact for mix in AFFINE_MIXES.values()] == [True, False, False, False, False]


def test_the_predictor_has_eight_bits_or_more() -> None:
    found = {name: predictor_default(mix).name for name, mix in AFFINE_MIXES.items()}
    assert found == {
        "mlx-f32": "mlx-f32", "mlx-bf16": "mlx-bf16",
        "mlx-8": "mlx-8", "mlx-6": "mlx-8", "mlx-4": "mlx-8",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["mlx-8", "mlx-6", "mlx-4"])
def test_bytes_are_those_that_are_stored(name: str) -> None:
    mix, rows = AFFINE_MIXES[name], np.ones((5, 192), np.float32)
    stored = affine_quantize(rows, mix.bits)
    arrays = (stored.values, stored.scales, stored.biases)
    assert mix.nbytes(5, 192) == sum(array.nbytes for array in arrays)
    assert AFFINE_MIXES["mlx-bf16"].nbytes(5, 192) == 5 * 192 * 2
