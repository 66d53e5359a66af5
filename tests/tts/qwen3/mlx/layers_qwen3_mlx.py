"""Layers of Qwen3-TTS on MLX itself: tests/tts/qwen3/mlx/test_transformer.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np

from s2s.system.mlx_thread import mlx_thread
from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3.checkpoint.affine import affine_dequantize, affine_quantize, from_bf16, to_bf16
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.mlx.transformer import MlxFile, MlxStack, to_mlx
from s2s.tts.qwen3.reference import TALKER_NAME, Decoder, no_trace

FOLDER = Path(sys.argv[1])
TOLD: dict[str, object] = {}


def stack() -> None:
    """Against the numpy layers, over a memory that grows in between."""
    folder = write_checkpoint(FOLDER / "official", "0.6b-base")
    weights, spec = Checkpoint(folder), read_spec(folder).talker
    layers = MlxStack(MlxFile(weights, wide=True), TALKER_NAME, spec)
    decoder = Decoder(weights, TALKER_NAME, spec, no_trace)
    rows = np.random.default_rng(2).standard_normal((9, spec.hidden), np.float32)
    expected = decoder.forward(decoder.new_cache(9), rows)
    empty = layers.new_caches(5)
    first, filled = layers(to_mlx(rows[:5]), empty, 0)
    grown = layers.grown(filled, 9)
    rest, _ = layers(to_mlx(rows[5:]), grown, 5)
    made = np.concatenate([np.array(first), np.array(rest)])
    TOLD["as the reference"] = bool(np.abs(made - expected).max() < 1e-4)
    TOLD["caches that were given stay"] = not np.array(empty[0][0]).any()
    TOLD["grown"] = grown[0][0].shape == (1, spec.kv_heads, 9, spec.head_dim)


def packing() -> None:
    """Our packing and MLX's mean the same."""
    rows = np.random.default_rng(3).standard_normal((6, 256), np.float32)
    x = np.random.default_rng(4).standard_normal((2, 256), np.float32)
    same, products = [], []
    for bits in (4, 6, 8):
        packed, scales, biases = mx.quantize(mx.array(rows), group_size=64, bits=bits)
        theirs = np.array(mx.dequantize(packed, scales, biases, group_size=64, bits=bits))
        ours = affine_dequantize(np.array(packed), np.array(scales), np.array(biases))
        same.append(bool(np.abs(theirs - ours).max() < 1e-6))
        stored = affine_quantize(rows, bits)
        scales, biases = (to_mlx(half) for half in (stored.scales, stored.biases))
        product = mx.quantized_matmul(
            mx.array(x), to_mlx(stored.values), scales.astype(mx.float32),
            biases.astype(mx.float32), transpose=True, group_size=64, bits=bits,
        )  # fmt: skip
        whole = affine_dequantize(stored.values, from_bf16(stored.scales), from_bf16(stored.biases))
        products.append(bool(np.abs(np.array(product) - x @ whole.T).max() < 1e-3))
    TOLD["bits of MLX's own quantiser"] = all(same) and len(same) == 3
    TOLD["a product of what we pack"] = all(products)
    made = np.array(to_mlx(to_bf16(rows)).astype(mx.float32))
    TOLD["bfloat16 by its bits"] = bool((made == from_bf16(to_bf16(rows))).all())


mlx_thread().call(stack)
mlx_thread().call(packing)
print(json.dumps(TOLD))
