"""Tensor types, quantisation, and which tensor gets which type in each named mix.

The types and block layouts are ggml's. f32, f16, bf16 and q8_0 are done here in numpy; the
K-quants are made by the llama.cpp library (``ggml_quantize_chunk``), which alone knows how to
search their scales. Knows nothing of files or models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from s2s.core.arrays import Floats
from s2s.tts.qwen3.errors import ConvertError

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class TensorType:
    """How a row is stored: ``block`` values in ``block_bytes`` bytes."""

    name: str
    ggml_id: int
    block: int
    block_bytes: int

    def row_bytes(self, width: int) -> int:
        """Bytes of a row of ``width`` values (a multiple of ``block``)."""
        return width // self.block * self.block_bytes


# enum ggml_type and the block structs of ggml-common.h.
TYPES = {
    kind.name: kind
    for kind in (
        TensorType("f32", 0, 1, 4),
        TensorType("f16", 1, 1, 2),
        TensorType("q8_0", 8, 32, 34),
        TensorType("q4_k", 12, 256, 144),
        TensorType("q5_k", 13, 256, 176),
        TensorType("q6_k", 14, 256, 210),
        TensorType("bf16", 30, 1, 2),
    )
}


@dataclass(frozen=True, slots=True)
class Mix:
    """A named quantisation of one decoder stack.

    ``matrix`` is the type of most matrices; ``better`` that of the value and down projections of
    the layers that suffer most (``more_bits``) and of the output head. ``llama_ftype`` is the
    number llama.cpp gives the whole file, for display.
    """

    name: str
    matrix: str
    better: str
    llama_ftype: int


MIXES = {
    mix.name: mix
    for mix in (
        Mix("f32", "f32", "f32", 0),
        Mix("bf16", "bf16", "bf16", 32),
        Mix("q8_0", "q8_0", "q8_0", 7),
        Mix("q6_k", "q6_k", "q6_k", 18),
        Mix("q5_k_m", "q5_k", "q6_k", 17),
        Mix("q4_k_m", "q4_k", "q6_k", 15),
    )
}


def mix(name: str) -> Mix:
    """The mix of that name. Raises ConvertError that lists the known ones."""
    found = MIXES.get(name.lower())
    if found is None:
        raise ConvertError(f"unknown quant {name!r}; known: {', '.join(MIXES)}")
    return found


def predictor_default(talker: Mix) -> Mix:
    """What the code predictor gets when nothing else is asked for: never below q8_0.

    Its codes suffer long before the talker's do, and its errors run through all later codebooks
    of a frame.
    """
    return talker if talker.name in ("f32", "bf16") else MIXES["q8_0"]


def more_bits(layer: int, layers: int) -> bool:
    """Whether a layer's value and down projections get the better type: the first and last
    eighth, and every third between (llama.cpp, ``use_more_bits``)."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def fitting(name: str, width: int) -> TensorType:
    """The wanted type, or the nearest better one whose blocks divide a row of ``width``."""
    kind = TYPES[name]
    if width % kind.block == 0:
        return kind
    return TYPES["q8_0"] if width % TYPES["q8_0"].block == 0 else TYPES["f16"]


_FULL_RANGE = ("f32", "bf16")
_NOTHING = np.float32(1e-37)
"""A block with a scale below becomes zeros: the inverse would not be a finite number."""

KQuantize = Callable[[Floats, TensorType], Bytes]


def quantize(rows: Floats, kind: TensorType, k_quantize: KQuantize) -> Bytes:
    """rows: float32 [n, width]; returns uint8 [n, kind.row_bytes(width)].

    ``k_quantize`` is called for the K-quants only. Raises ValueError when the width is not a
    multiple of the block or a value is not finite.
    """
    if rows.shape[1] % kind.block:
        raise ValueError(f"rows of {rows.shape[1]} values do not divide into {kind.name} blocks")
    if not np.isfinite(rows).all():
        raise ValueError("a weight is not a finite number")
    rows = np.ascontiguousarray(rows)
    if kind.name not in _FULL_RANGE:  # scales and values are halves
        biggest = np.abs(rows).max(initial=0)
        if biggest > np.finfo(np.float16).max:
            raise ValueError(f"a weight of {biggest:g} does not fit into {kind.name}")
    match kind.name:
        case "f32":
            return _as_bytes(rows)
        case "f16":
            return _as_bytes(_to_f16(rows))
        case "bf16":
            return _as_bytes(_to_bf16(rows))
        case "q8_0":
            return _to_q8_0(rows)
        case _:
            return k_quantize(rows, kind)


def dequantize(raw: Bytes, kind: TensorType) -> Floats:
    """raw: uint8 [n, row bytes]; returns float32 [n, width]. For the types tables are kept in
    (f32, f16, bf16, q8_0); raises ValueError for another."""
    raw = np.ascontiguousarray(raw)
    match kind.name:
        case "f32":
            return raw.view(np.float32)
        case "f16":
            return raw.view(np.float16).astype(np.float32)
        case "bf16":
            return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        case "q8_0":
            blocks = raw.reshape(raw.shape[0], -1, kind.block_bytes)
            scale = np.ascontiguousarray(blocks[:, :, :2]).view(np.float16).astype(np.float32)
            return (blocks[:, :, 2:].view(np.int8) * scale).reshape(raw.shape[0], -1)
        case _:
            raise ValueError(f"rows of type {kind.name} can only be read by the llama.cpp library")


def _as_bytes(rows: npt.NDArray[np.generic]) -> Bytes:
    return rows.view(np.uint8).reshape(rows.shape[0], -1)


def _to_f16(rows: Floats) -> npt.NDArray[np.float16]:
    return rows.astype(np.float16)


def _to_bf16(rows: Floats) -> npt.NDArray[np.uint16]:
    """Round to nearest, ties to even, as hardware does."""
    bits = rows.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def _to_q8_0(rows: Floats) -> Bytes:
    """A block is an f16 scale and 32 signed bytes; the largest value of a block becomes 127."""
    kind = TYPES["q8_0"]
    blocks = rows.reshape(rows.shape[0], -1, kind.block)
    scale = np.abs(blocks).max(axis=2, keepdims=True) / np.float32(127)
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > _NOTHING)
    values = blocks * inverse
    # Halves away from zero, as roundf does.
    whole = np.copysign(np.floor(np.abs(values) + np.float32(0.5)), values).astype(np.int8)
    packed = np.empty((*blocks.shape[:2], kind.block_bytes), np.uint8)
    packed[:, :, :2] = scale.astype(np.float16).view(np.uint8)
    packed[:, :, 2:] = whole.view(np.uint8)
    return packed.reshape(rows.shape[0], -1)
