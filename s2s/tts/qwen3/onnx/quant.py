"""Matrices in blocks of few bits, as onnxruntime's ``MatMulNBits`` reads them.

A block of neighbouring values in a row is stored as whole numbers from 0 to ``2**bits - 1``, a
scale and a zero point: value = (whole - zero point) * scale. Scale and zero point of each block
are those of the least squared error among several ranges: cutting off the outermost values is
often worth it. Layout: the contrib operator documentation of onnxruntime, ``MatMulNBits``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from s2s.core.arrays import Floats

Bytes = npt.NDArray[np.uint8]

_PIECE_VALUES = 1 << 16  # what is worked on at a time stays in the processor's cache
_RANGES_4 = np.linspace(0.7, 1.05, 6, dtype=np.float32)
_TINY = np.float32(1e-30)
_RANGES_8 = np.ones(1, dtype=np.float32)  # nothing is gained by cutting off


@dataclass(frozen=True, slots=True)
class BlockMix:
    """A named storage of one decoder's matrices: ``bits`` 4 or 8, or 32 for float32 as it is.

    block: values that have a scale of their own; 0 for whole rows.
    """

    name: str
    bits: int
    block: int

    @property
    def whole(self) -> bool:
        """Nothing is quantised."""
        return self.bits == 32

    def nbytes(self, rows: int, width: int) -> int:
        """Size of a stored matrix [rows, width]."""
        if self.whole:
            return 4 * rows * width
        blocks = self.blocks(width)
        return rows * (width * self.bits // 8 + 4 * blocks + -(-blocks * self.bits // 8))

    def blocks(self, width: int) -> int:
        """Blocks in a row. Raises ValueError when they don't divide it."""
        if not self.block:
            return 1
        if width % self.block:
            raise ValueError(f"{self.name}: rows of {width} values do not divide into blocks")
        return width // self.block


BLOCK_MIXES = {
    mix.name: mix
    for mix in (
        BlockMix("onnx-f32", 32, 1),
        BlockMix("int8-32", 8, 32),
        # Larger blocks cost eight bits little (1.8 dB after five layers of random weights) and read
        # a third less beside the values: a one-row pass takes 2.6 ms instead of 3.9.
        BlockMix("int8", 8, 128),
        BlockMix("int4", 4, 32),
        BlockMix("int4-128", 4, 128),
    )
}


def predictor_default(talker: BlockMix) -> BlockMix:
    """What the code predictor gets when nothing else is asked for: never below eight bits, since
    its errors run through all later codebooks of a frame."""
    return talker if talker.bits >= 8 else BLOCK_MIXES["int8"]


@dataclass(frozen=True, slots=True)
class Packed:
    """A stored matrix [rows, width].

    values: uint8 [rows, blocks, block * bits / 8], the earlier of two values in the lower half of
    a byte. scales: float32 [rows, blocks]. zeros: uint8 [rows, ceil(blocks * bits / 8)], zero
    points packed like values.
    """

    values: Bytes
    scales: Floats
    zeros: Bytes


def pack(rows: Floats, mix: BlockMix) -> Packed:
    """Quantise a matrix of float32 [rows, width].

    Raises ValueError when blocks don't divide the width or a value is not finite.
    """
    count, width = rows.shape
    blocks = mix.blocks(width)
    if not np.isfinite(rows).all():
        raise ValueError("a weight is not a finite number")
    values = np.empty((count, blocks, mix.block * mix.bits // 8), np.uint8)
    scales = np.empty((count, blocks), np.float32)
    zeros = np.empty((count, -(-blocks * mix.bits // 8)), np.uint8)
    step = max(1, _PIECE_VALUES // width)
    for start in range(0, count, step):
        piece = slice(start, start + step)
        part = np.ascontiguousarray(rows[piece], np.float32).reshape(-1, mix.block)
        whole, scale, zero = _quantize(part, mix.bits)
        values[piece] = _joined(whole, mix.bits).reshape(-1, *values.shape[1:])
        scales[piece] = scale.reshape(-1, blocks)
        zeros[piece] = _joined(zero.reshape(-1, blocks), mix.bits)
    return Packed(values, scales, zeros)


def unpack(packed: Packed, mix: BlockMix) -> Floats:
    """What a stored matrix stands for: float32 [rows, width]."""
    count, blocks = packed.scales.shape
    whole = _parted(packed.values.reshape(count * blocks, -1), mix.bits)
    zeros = _parted(packed.zeros, mix.bits)[:, :blocks]
    centred = whole.reshape(count, blocks, -1).astype(np.float32) - zeros[:, :, None]
    return (centred * packed.scales[:, :, None]).reshape(count, -1)


def _quantize(blocks: Floats, bits: int) -> tuple[Bytes, Floats, Bytes]:
    """blocks: float32 [n, block]; returns whole numbers [n, block], scales [n] and zero points [n].

    Each range tried gives whole numbers, and these the best scale there is for them; the least
    squared error is the sum of squares minus what the fit explains.
    """
    top = np.float32(2**bits - 1)
    # A zero point is a whole number of the same range, so the range has to hold zero.
    low = np.minimum(blocks.min(1, keepdims=True), 0)
    high = np.maximum(blocks.max(1, keepdims=True), 0)
    middle, span = (low + high) / 2, high - low
    span = np.where(span > _TINY, span, 1)  # a block of nothing, or next to it, becomes zeros
    best_whole = np.zeros(blocks.shape, np.uint8)
    best_zero = np.zeros(low.shape, np.uint8)
    best_scale = np.zeros(low.shape, np.float32)
    best = np.full(low.shape, -1, np.float32)
    for part in _RANGES_4 if bits == 4 else _RANGES_8:
        step = span * (part / top)
        zero = np.clip(np.rint(top / 2 - middle / step), 0, top)
        whole = np.clip(np.rint(blocks / step + zero), 0, top)
        centred = whole - zero
        power = np.einsum("ij,ij->i", centred, centred)[:, None]
        match = np.einsum("ij,ij->i", centred, blocks)[:, None]
        scale = np.divide(match, power, out=np.zeros_like(match), where=power > 0)
        explained = match * scale
        better = explained > best
        best = np.where(better, explained, best)
        best_scale = np.where(better, scale, best_scale)
        best_zero = np.where(better, zero, best_zero).astype(np.uint8)
        np.copyto(best_whole, whole, where=better, casting="unsafe")
    return best_whole, best_scale[:, 0], best_zero[:, 0]


def _joined(whole: Bytes, bits: int) -> Bytes:
    """Pairs of four-bit numbers of a row in one byte; eight-bit ones as they are."""
    if bits == 8:
        return whole
    if whole.shape[1] % 2:
        whole = np.pad(whole, ((0, 0), (0, 1)))
    return np.bitwise_or(whole[:, 0::2], whole[:, 1::2] << 4, dtype=np.uint8)


def _parted(joined: Bytes, bits: int) -> Bytes:
    """The numbers that `_joined` put together."""
    if bits == 8:
        return joined
    parted = np.stack([joined & 15, joined >> 4], axis=-1).astype(np.uint8)
    return parted.reshape(len(joined), -1)
