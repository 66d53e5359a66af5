"""Matrices in MLX's affine quantisation: 64 values of a row share a scale and a bias.

A value is ``scale * code + bias``; codes have 4, 6 or 8 bits (MLX has 2, 3 and 5 too) and lie one
behind the other, lowest bit first, in 32-bit words. Scales and biases are bfloat16. Knows nothing
of files or models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from s2s.core.arrays import Floats

GROUP = 64
"""Values that share a scale."""
WORD_BITS = 32
Words = npt.NDArray[np.uint32]
Halves = npt.NDArray[np.uint16]
"""bfloat16, by its bits."""


@dataclass(frozen=True, slots=True)
class AffineRows:
    """Rows of a matrix. values: [rows, words]; scales, biases: [rows, groups]."""

    values: Words
    scales: Halves
    biases: Halves


def row_words(width: int, bits: int) -> int:
    """Words of a row of ``width`` values (a multiple of the group)."""
    return width * bits // WORD_BITS


def bits_of(words: int, groups: int) -> int:
    """Bits of a code, from the shape of what is stored; 0 when it is no such matrix."""
    bits, rest = divmod(words * WORD_BITS, groups * GROUP) if groups else (0, 1)
    return 0 if rest or not 1 < bits < 9 else bits


def to_bf16(values: Floats) -> Halves:
    """Rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(halves: Halves) -> Floats:
    """The same values as float32."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


def affine_quantize(rows: Floats, bits: int) -> AffineRows:
    """rows: float32 [n, width]. Codes are chosen for the scales and biases as they are stored, so
    that what these lose by rounding is not lost twice.

    Raises ValueError when the width is no multiple of the group.
    """
    count, width = rows.shape
    if width % GROUP:
        raise ValueError(f"rows of {width} values do not divide into groups of {GROUP}")
    groups = rows.reshape(count, -1, GROUP)
    most = (1 << bits) - 1
    low, high = groups.min(2), groups.max(2)
    biases = to_bf16(low)
    stored = from_bf16(biases)
    scales = to_bf16(np.maximum(high - stored, np.float32(0)) / np.float32(most))
    scale = from_bf16(scales)[..., None]
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    codes = np.clip(np.rint((groups - stored[..., None]) * inverse), 0, most).astype(np.uint8)
    return AffineRows(_pack(codes.reshape(count, width), bits), scales, biases)


def affine_dequantize(values: Words, scales: Floats, biases: Floats) -> Floats:
    """values: [n, words]; scales, biases: float32 [n, groups]; returns float32 [n, width]."""
    count, groups = scales.shape
    codes = _unpack(values, bits_of(values.shape[1], groups))
    rows = codes.reshape(count, groups, GROUP).astype(np.float32)
    rows *= scales[..., None]
    rows += biases[..., None]
    return rows.reshape(count, -1)


def _pack(codes: npt.NDArray[np.uint8], bits: int) -> Words:
    if bits == 8:
        return np.ascontiguousarray(codes).view("<u4")
    if bits == 4:
        pairs = codes[:, 0::2] | (codes[:, 1::2] << 4)
        return np.ascontiguousarray(pairs).view("<u4")
    single = np.unpackbits(codes[..., None], axis=2, count=bits, bitorder="little")
    packed = np.packbits(single.reshape(len(codes), -1), axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u4")


def _unpack(values: Words, bits: int) -> npt.NDArray[np.uint8]:
    raw = np.ascontiguousarray(values, "<u4").view(np.uint8)
    if bits == 8:
        return raw
    if bits == 4:
        codes = np.empty((len(raw), 2 * raw.shape[1]), np.uint8)
        codes[:, 0::2], codes[:, 1::2] = raw & 15, raw >> 4
        return codes
    single = np.unpackbits(raw, axis=1, bitorder="little").reshape(len(raw), -1, bits)
    return np.packbits(single, axis=2, bitorder="little")[..., 0]
