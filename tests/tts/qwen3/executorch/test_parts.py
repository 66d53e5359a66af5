"""What exported modules are made of. What is made of them is held against the official package by
`test_language.py` and `test_codec.py`."""

from __future__ import annotations

import numpy as np

from s2s.tts.qwen3.executorch.parts import HeadShape, swap_matrix


def test_halves_are_swapped_and_one_is_negated() -> None:
    x = np.arange(1, 9, dtype=np.float32)
    assert (swap_matrix(8) @ x).tolist() == [-5, -6, -7, -8, 1, 2, 3, 4]


def test_queries_share_keys() -> None:
    assert HeadShape(heads=16, kv_heads=8, width=128).sharing == 2
