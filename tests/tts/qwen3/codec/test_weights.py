"""Folded weights compute what the layers compute that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec, read_codec_spec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.codec.weights import PreTransformerWeights, UpsamplerWeights
from s2s.tts.qwen3.errors import CodecError


class Changed:
    """A checkpoint's tensors, some of them others."""

    def __init__(self, tensors: Checkpoint, **other: np.ndarray) -> None:
        self._tensors, self._other = tensors, other

    def __getitem__(self, name: str) -> np.ndarray:
        return self._other.get(name, self._tensors[name])


@pytest.fixture(scope="module")
def codec(tiny_qwen3: Callable[[str], Path]) -> tuple[CodecDecoderSpec, Checkpoint]:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    return read_codec_spec(folder).decoder, Checkpoint(folder)


def snake(x: np.ndarray, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """SnakeBeta as the official package has it, with its parameters as logarithms."""
    return x + np.sin(x * np.exp(alpha)) ** 2 / (np.exp(beta) + 1e-9)


def test_a_residual_unit_is_its_layers(codec: tuple[CodecDecoderSpec, Checkpoint]) -> None:
    """The second Snake lies in the matrices beside it."""
    spec, tensors = codec
    unit = UpsamplerWeights(tensors, spec).residual(1, 0)
    name, width = "decoder.decoder.1.block.2", spec.decoder_dim // 2
    a = np.random.default_rng(0).standard_normal((width, 7))  # what the convolution sees at a step
    kernel = tensors[f"{name}.conv1.conv.weight"].astype(np.float64)
    hidden = np.einsum("oik,ik->o", kernel, a) + tensors[f"{name}.conv1.conv.bias"]
    hidden = snake(hidden, tensors[f"{name}.act2.alpha"], tensors[f"{name}.act2.beta"])
    matrix = tensors[f"{name}.conv2.conv.weight"][:, :, 0].astype(np.float64)
    wanted = matrix @ hidden + tensors[f"{name}.conv2.conv.bias"]
    angles = np.einsum("oik,ik->o", unit.conv.weight, a) + unit.conv.bias
    found = (angles + unit.scales * np.sin(angles) ** 2) @ unit.matrix + unit.bias
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_a_transposed_convolution_is_a_matrix_over_two_steps(
    codec: tuple[CodecDecoderSpec, Checkpoint],
) -> None:
    spec, tensors = codec
    matrix, bias = UpsamplerWeights(tensors, spec).transposed(1)
    width, rate = spec.decoder_dim, spec.upsample_rates[0]
    x = np.random.default_rng(0).standard_normal((5, width))
    kernel = tensors["decoder.decoder.1.block.1.conv.weight"].astype(np.float64)
    out = np.zeros((6 * rate, width // 2))
    for step, row in enumerate(x):
        out[step * rate : (step + 2) * rate] += np.einsum("i,iok->ko", row, kernel)
    out += tensors["decoder.decoder.1.block.1.conv.bias"]
    pairs = np.concatenate([np.vstack([np.zeros(width), x[:-1]]), x], axis=1)
    found = (pairs @ matrix + bias).reshape(5 * rate, width // 2)
    np.testing.assert_allclose(found, out[: 5 * rate], atol=1e-6)


def test_a_layer_has_its_norm_and_the_scale_of_its_scores_inside(
    codec: tuple[CodecDecoderSpec, Checkpoint],
) -> None:
    spec, tensors = codec
    layer = PreTransformerWeights(tensors, spec).layer(0)
    prefix = "decoder.pre_transformer.layers.0"
    x = np.random.default_rng(0).standard_normal(spec.hidden_size)
    normed = x * tensors[f"{prefix}.input_layernorm.weight"]
    query = tensors[f"{prefix}.self_attn.q_proj.weight"].astype(np.float64) @ normed
    width = spec.heads * spec.head_dim
    found = x @ layer.query_key_value
    np.testing.assert_allclose(found[:width], query / np.sqrt(spec.head_dim), atol=1e-6)
    gate = tensors[f"{prefix}.mlp.gate_proj.weight"].astype(np.float64)
    inner = x * tensors[f"{prefix}.post_attention_layernorm.weight"]
    half = spec.intermediate_size
    np.testing.assert_allclose((x @ layer.gate_up)[:half], gate @ inner, atol=1e-6)


def test_code_vectors_of_all_groups_lie_one_after_the_other(
    codec: tuple[CodecDecoderSpec, Checkpoint],
) -> None:
    spec, tensors = codec
    vectors = PreTransformerWeights(tensors, spec).codebooks()
    assert vectors.shape == (spec.code_groups * spec.codebook_size, spec.codebook_dim // 2)
    book = "decoder.quantizer.rvq_rest.vq.layers.0._codebook"
    sums, usage = tensors[f"{book}.embedding_sum"], tensors[f"{book}.cluster_usage"]
    wanted = sums[3].astype(np.float64) / max(float(usage[3]), 1e-5)
    np.testing.assert_allclose(vectors[spec.codebook_size + 3], wanted, atol=1e-12)


def test_what_float32_cannot_hold_or_has_another_shape_is_named(
    codec: tuple[CodecDecoderSpec, Checkpoint],
) -> None:
    spec, tensors = codec
    name = "decoder.decoder.1.block.0.alpha"
    huge = Changed(tensors, **{name: np.full(spec.decoder_dim, 1000.0, np.float32)})
    with pytest.raises(CodecError, match="alpha"):
        UpsamplerWeights(huge, spec).before_transposed(1)  # type: ignore[arg-type]
    short = Changed(tensors, **{name: np.zeros(3, np.float32)})
    with pytest.raises(CodecError, match="alpha"):
        UpsamplerWeights(short, spec).before_transposed(1)  # type: ignore[arg-type]
