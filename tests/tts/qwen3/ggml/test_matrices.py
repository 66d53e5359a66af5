"""Matrices on llama.cpp, each multiplied with one vector at a time."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.checkpoint.quant import TYPES, dequantize, quantize
from s2s.tts.qwen3.ggml.library import k_quantize, library
from s2s.tts.qwen3.ggml.matrices import Matrices

pytestmark = [
    pytest.mark.ggml,
    pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp"),
]
WIDTH = 256


def stored(rows: int, kind: str) -> np.ndarray:
    values = np.random.default_rng(rows).standard_normal((rows, WIDTH), np.float32)
    return quantize(values, TYPES[kind], lambda v, k: k_quantize(library(), v, k))


def test_each_product_is_that_of_its_matrix() -> None:
    parts = [(stored(8, "f32"), TYPES["f32"]), (stored(24, "q8_0"), TYPES["q8_0"])]
    matrices = Matrices(library(), parts, WIDTH, 1)
    vector = np.random.default_rng(0).standard_normal(WIDTH, np.float32)
    for index, (raw, kind) in enumerate(parts):
        expected = dequantize(raw, kind) @ vector
        np.testing.assert_allclose(matrices.product(index, vector), expected, atol=0.3)
    exact = dequantize(*parts[0]) @ vector
    np.testing.assert_allclose(matrices.product(0, vector), exact, atol=1e-4)


def test_results_are_copies_and_threads_take_turns() -> None:
    matrices = Matrices(library(), [(stored(16, "f32"), TYPES["f32"])], WIDTH, 1)
    vectors = np.random.default_rng(1).standard_normal((8, WIDTH), np.float32)
    alone = [matrices.product(0, vector) for vector in vectors]
    together: dict[int, np.ndarray] = {}

    def work(at: int) -> None:
        together[at] = matrices.product(0, vectors[at])

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, one in enumerate(alone):
        np.testing.assert_array_equal(together[at], one)


def test_a_vector_of_another_width_is_refused() -> None:
    matrices = Matrices(library(), [(stored(8, "f32"), TYPES["f32"])], WIDTH, 1)
    with pytest.raises(ValueError, match=r"wanted \[256\]"):
        matrices.product(0, np.zeros(255, np.float32))
