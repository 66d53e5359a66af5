"""Packed matrices of the kernel, and what is multiplied with them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.core.arrays import Floats
from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.checkpoint.quant import TYPES, TensorType, dequantize, quantize
from s2s.tts.qwen3.ggml.library import k_quantize, library
from s2s.tts.qwen3.native import library as kernel
from s2s.tts.qwen3.native.compiling import levels
from s2s.tts.qwen3.native.library import address, load_kernel

ROWS, COLUMNS = 37, 512


PLAIN = ["f32", "f16", "bf16", "q8_0"]


K_QUANTS = ["q4_k", "q5_k", "q6_k"]


Product = Callable[[Floats], Floats]


@pytest.fixture(scope="module", params=["native", *levels()])
def lib(
    request: pytest.FixtureRequest, kernel_cache: Path, leveled_kernel: Callable[[str], Path]
) -> ctypes.CDLL:
    """The kernel as it is loaded here, and each of its levels."""
    level: str = request.param
    if level == "native":
        return load_kernel(kernel_cache)
    return kernel.open_kernel(leveled_kernel(level), level)


def weights(seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal((ROWS, COLUMNS), dtype=np.float32)


def stored(kind: TensorType, values: Floats) -> np.ndarray:
    return quantize(values, kind, lambda rows, kind: k_quantize(library(), rows, kind))


def product_of(lib: ctypes.CDLL, kind: TensorType, raw: np.ndarray, threads: int = 2) -> Product:
    """A function that multiplies with the matrix, and keeps what it needs alive."""
    pool = lib.pool_new(threads)
    bits = 4 if kind.name == "q4_k" else 8
    memory = lib.weights_new(lib.matrix_bytes(ROWS, COLUMNS, bits), 1)
    matrix = lib.matrix_new(ROWS, COLUMNS, bits, memory)
    raw = np.ascontiguousarray(raw)
    assert lib.matrix_fill(matrix, kind.ggml_id, address(raw), 0, ROWS) == 0

    def product(vector: Floats) -> Floats:
        out = np.empty(ROWS, np.float32)
        vector = np.ascontiguousarray(vector, np.float32)
        lib.matrix_product(pool, matrix, address(vector), address(out))
        return out

    return product


@pytest.mark.parametrize("name", PLAIN)
def test_each_weight_is_what_was_stored(name: str, lib: ctypes.CDLL) -> None:
    """A vector of one 127 reads a column: only what is stored finer than 8 bits is rounded."""
    kind = TYPES[name]
    raw = stored(kind, weights())
    product = product_of(lib, kind, raw)
    expected = dequantize(raw, kind)
    blocks = np.abs(expected).reshape(ROWS, -1, 32).max(-1).repeat(32, axis=1)
    step = blocks * (2**-10 if name == "q8_0" else 1 / 127 / 2 + 2**-10)
    for column in range(0, COLUMNS, 5):
        vector = np.zeros(COLUMNS, np.float32)
        vector[column] = 127
        error = np.abs(product(vector) / 127 - expected[:, column])
        assert (error <= step[:, column]).all()


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
@pytest.mark.parametrize("name", K_QUANTS)
def test_k_quants_are_read_as_ggml_reads_them(name: str, lib: ctypes.CDLL) -> None:
    from s2s.tts.qwen3.ggml.matrices import Matrices

    kind = TYPES[name]
    raw = stored(kind, weights())
    product = product_of(lib, kind, raw)
    ggml = Matrices(library(), [(raw, kind)], COLUMNS, threads=1)
    largest = np.abs(weights()).max()
    for column in range(0, COLUMNS, 7):
        vector = np.zeros(COLUMNS, np.float32)
        vector[column] = 127
        error = np.abs(product(vector) - ggml.product(0, vector)).max() / 127
        assert error <= largest * (2**-9 if name == "q4_k" else 1 / 127)


def test_products_are_those_of_rounded_vectors(lib: ctypes.CDLL) -> None:
    """Against the same arithmetic in numpy: blocks of 32 to nearest in 8 bits."""
    kind = TYPES["q8_0"]
    raw = stored(kind, weights())
    product, matrix = product_of(lib, kind, raw), dequantize(raw, kind)
    for seed, size in enumerate((1e-6, 1.0, 1e4)):
        vector = np.random.default_rng(seed).standard_normal(COLUMNS).astype(np.float32) * size
        blocks = vector.reshape(-1, 32)
        scale = np.abs(blocks).max(1, keepdims=True) / np.float32(127)
        rounded = (np.rint(blocks / scale) * scale).reshape(-1)
        expected = matrix.astype(np.float64) @ rounded
        np.testing.assert_allclose(product(vector), expected, rtol=0, atol=3e-3 * size)
    assert not product(np.zeros(COLUMNS, np.float32)).any()


def test_any_number_of_threads_gives_the_same_bits(kernel_cache: Path) -> None:
    lib, kind = load_kernel(kernel_cache), TYPES["q8_0"]
    raw = stored(kind, weights())
    vector = weights(1)[0]
    expected = product_of(lib, kind, raw, threads=1)(vector)
    for threads in (2, 3, 7):
        product = product_of(lib, kind, raw, threads)
        for _ in range(20):
            np.testing.assert_array_equal(product(vector), expected)


def test_a_type_it_does_not_know_is_refused(kernel_cache: Path) -> None:
    lib = load_kernel(kernel_cache)
    memory = lib.weights_new(lib.matrix_bytes(16, 32, 4), 1)
    raw = np.zeros(16 * 34, np.uint8)
    for bits, kind in ((8, 2), (4, 8)):  # q4_0; and q8_0 into four bits
        matrix = lib.matrix_new(16, 32, bits, memory)
        assert lib.matrix_fill(matrix, kind, address(raw), 0, 16) == -1
