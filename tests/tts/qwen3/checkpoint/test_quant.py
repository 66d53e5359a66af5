"""Types, rounding and mixes; the K-quants against what their block layout can hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from s2s.core.arrays import Floats
from s2s.system.llama_cpp import Library, installed
from s2s.tts.qwen3.checkpoint.quant import (
    MIXES,
    TYPES,
    Bytes,
    TensorType,
    dequantize,
    fitting,
    mix,
    more_bits,
    predictor_default,
    quantize,
)
from s2s.tts.qwen3.ggml.library import PROTOTYPES, k_quantize

LIBRARIES = installed()
ROWS = np.random.default_rng(1).standard_normal((6, 512), dtype=np.float32)

values = arrays(
    np.float32,
    (3, 64),
    elements=st.floats(-60000, 60000, width=32, allow_nan=False, allow_infinity=False),
)


def no_k_quants(rows: Floats, kind: TensorType) -> Bytes:
    raise AssertionError("no K-quant was asked for")


def there_and_back(rows: Floats, name: str) -> Floats:
    return dequantize(quantize(rows, TYPES[name], no_k_quants), TYPES[name])


@given(values)
@settings(max_examples=60)
def test_each_type_is_as_near_as_its_bits_allow(rows: Floats) -> None:
    np.testing.assert_array_equal(there_and_back(rows, "f32"), rows)
    np.testing.assert_allclose(there_and_back(rows, "f16"), rows, rtol=2**-11, atol=2**-25)
    np.testing.assert_allclose(there_and_back(rows, "bf16"), rows, rtol=2**-8, atol=1e-37)
    largest = np.abs(rows.reshape(3, 2, 32)).max(axis=2).repeat(32, axis=1)
    error = np.abs(there_and_back(rows, "q8_0") - rows)
    # Half a step, and what the scale loses in f16.
    assert (error <= largest * (0.5 / 127 + 2**-11) + 127 * 2**-25).all()


def test_bf16_rounds_to_even() -> None:
    tie = np.array([[0x3F808000, 0x3F818000, 0x3F808001]], np.uint32).view(np.float32)
    bits = quantize(tie, TYPES["bf16"], no_k_quants).view(np.uint16)
    assert [hex(b) for b in bits[0]] == ["0x3f80", "0x3f82", "0x3f81"]


@pytest.mark.parametrize(("name", "value"), [("f16", 1e5), ("q8_0", np.nan), ("f32", np.inf)])
def test_a_value_that_does_not_fit_is_an_error(name: str, value: float) -> None:
    rows = np.zeros((1, 32), np.float32)
    rows[0, 3] = value
    with pytest.raises(ValueError, match="weight"):
        quantize(rows, TYPES[name], no_k_quants)


def test_a_width_that_does_not_divide_is_an_error_and_gets_a_better_type() -> None:
    with pytest.raises(ValueError, match="do not divide"):
        quantize(np.zeros((1, 40), np.float32), TYPES["q8_0"], no_k_quants)
    assert fitting("q4_k", 512) == TYPES["q4_k"]
    assert fitting("q4_k", 96) == TYPES["q8_0"]
    assert fitting("q4_k", 40) == fitting("q8_0", 40) == TYPES["f16"]


def test_unknown_names_list_the_known_ones() -> None:
    assert mix("Q4_K_M") is MIXES["q4_k_m"]
    with pytest.raises(ValueError, match=r"unknown quant 'q4'; known: f32, bf16, q8_0, q6_k"):
        mix("q4")


def test_the_predictor_never_falls_below_q8_0_by_itself() -> None:
    chosen = {name: predictor_default(found).name for name, found in MIXES.items()}
    assert chosen == {
        "f32": "f32",
        "bf16": "bf16",
        "q8_0": "q8_0",
        "q6_k": "q8_0",
        "q5_k_m": "q8_0",
        "q4_k_m": "q8_0",
    }


def test_the_layers_with_more_bits_are_llama_cpps() -> None:
    assert [at for at in range(28) if more_bits(at, 28)] == [
        *(0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 24, 25, 26, 27)
    ]


def test_only_table_types_are_read_back_here() -> None:
    with pytest.raises(ValueError, match=r"llama\.cpp library"):
        dequantize(np.zeros((1, 144), np.uint8), TYPES["q4_k"])


@pytest.mark.ggml
@pytest.mark.skipif(not LIBRARIES, reason="no llama.cpp library: pip install xllamacpp")
@pytest.mark.parametrize("package", [name for name, _ in LIBRARIES])
class TestEveryInstalledLibrary:
    def test_q8_0_is_made_as_ggml_makes_it(self, package: str) -> None:
        library = Library(dict(LIBRARIES)[package], PROTOTYPES)
        ours = quantize(ROWS, TYPES["q8_0"], no_k_quants)
        np.testing.assert_array_equal(ours, k_quantize(library, ROWS, TYPES["q8_0"]))

    @pytest.mark.parametrize(("name", "steps"), [("q4_k", 15), ("q5_k", 31), ("q6_k", 63)])
    def test_k_quants_multiply_like_what_they_were_made_of(
        self, package: str, name: str, steps: int
    ) -> None:
        """The product of a quantised matrix: the error falls with the number of levels."""
        from s2s.tts.qwen3.ggml.matrices import Matrices

        library = Library(dict(LIBRARIES)[package], PROTOTYPES)
        raw = quantize(ROWS, TYPES[name], lambda rows, kind: k_quantize(library, rows, kind))
        assert raw.shape == (6, TYPES[name].row_bytes(512))
        vector = np.random.default_rng(2).standard_normal(512, dtype=np.float32)
        product = Matrices(library, [(raw, TYPES[name])], 512, threads=1).product(0, vector)
        error = np.linalg.norm(product - ROWS @ vector) / np.linalg.norm(ROWS @ vector)
        assert 0 < error < 1.5 / steps

    def test_matrices_of_f32_are_exact(self, package: str) -> None:
        from s2s.tts.qwen3.ggml.matrices import Matrices

        library = Library(dict(LIBRARIES)[package], PROTOTYPES)
        other = ROWS[:2] * 2
        pair = [(quantize(m, TYPES["f32"], no_k_quants), TYPES["f32"]) for m in (ROWS, other)]
        matrices = Matrices(library, pair, 512, threads=1)
        vector = np.random.default_rng(2).standard_normal(512, dtype=np.float32)
        np.testing.assert_allclose(
            matrices.product(1, vector), other @ vector, rtol=1e-4, atol=1e-4
        )
        np.testing.assert_allclose(matrices.product(0, vector), ROWS @ vector, rtol=1e-4, atol=1e-4)
        with pytest.raises(ValueError, match="wanted"):
            matrices.product(0, vector[:-1])
