"""Weights for the codec decoder's kernel: arrays packed one behind the other, matrices in panels,
or read as they were packed before."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import Structure, c_int, c_void_p
from typing import ClassVar

import numpy as np

from s2s.tts.qwen3.codec.tensors import Wide
from s2s.tts.qwen3.codec.weights import Snake
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.native.kept import KeptWeights, Origin, Packed
from s2s.tts.qwen3.native.memory import WeightMemory
from s2s.tts.qwen3.native.transformer import ThreadPool

_PAD, _PANEL = 16, 48  # CODEC_PAD of codec_layers.h, PANEL of codec_matmul.h


class SnakeWeights(Structure):
    """``Snake`` of codec_layers.h."""

    _fields_: ClassVar = [("frequency", c_void_p), ("scale", c_void_p)]


class PackedWeights(Structure):
    """``PackedWeights`` of codec_layers.h: a convolution, or with one tap a matrix."""

    _fields_: ClassVar = [
        ("taps", c_int),
        ("into", c_int),
        ("out", c_int),
        ("panels", c_void_p),
        ("bias", c_void_p),
    ]


Vector = Callable[[], Wide]
"""Makes values [n]: weights are asked for only when they were not read."""
Weights = Callable[[], tuple[Sequence[Wide], Wide]]
"""Makes matrices [in, out] of the taps, oldest first, and the bias."""


class Memory:
    """Weights one behind the other. Every start takes the same arrays in the same order."""

    def __init__(
        self, pool: ThreadPool, floats: int, part: str, origin: Origin | None, layout: object
    ) -> None:
        """Room for ``floats``; kept as a part of ``origin``, if that is given. layout: what else
        decides how they lie. Raises KernelError when memory runs out."""
        kept = None if origin is None else KeptWeights(pool.kernel_path, part, origin, layout)
        self._memory = WeightMemory(pool.kernel, 4 * floats, pool.threads, kept)
        self._values: Floats = self._memory.values.view(np.float32)
        self._used = 0

    def keep(self) -> None:
        """All is in it: keep it for the next start."""
        self._memory.keep()

    @property
    def packed(self) -> Packed:
        """All that was taken as it lies in memory: uint8 [n], for as long as this lives."""
        return self._values[: self._used].view(np.uint8)

    def take(self, *shape: int) -> Floats:
        """The next array in it: zeros, or what was read."""
        size = int(np.prod(shape))
        values = self._values[self._used : self._used + size].reshape(shape)
        self._used += -(-size // _PAD) * _PAD
        return values

    def vector(self, values: Vector, width: int) -> int:
        """Store values [n], with zeros up to ``width``; returns the address."""
        stored = self.take(width)
        if not self._memory.filled:
            made = values()
            stored[: len(made)] = made
        return stored.ctypes.data

    def rows(self, values: Vector, shape: tuple[int, int]) -> Floats:
        """Store values [n, width] as they are; returns them as they lie here."""
        stored = self.take(*shape)
        if not self._memory.filled:
            stored[:] = values()
        return stored

    def snake(self, snake: Callable[[], Snake], width: int) -> SnakeWeights:
        """A Snake of so many channels, whose angles are counted in half turns."""
        return SnakeWeights(
            self.vector(lambda: snake().frequencies / np.pi, padded(width)),
            self.vector(lambda: snake().scales, padded(width)),
        )

    def pack(self, shape: tuple[int, int, int], weights: Weights) -> PackedWeights:
        """Matrices and bias in panels. shape: [taps, in, out]."""
        taps, into, out = shape[0], padded(shape[1]), padded(shape[2])
        panels, bias = self.take(-(-out // _PANEL), taps, into, _PANEL), self.take(out)
        if not self._memory.filled:
            matrices, values = weights()
            bias[: len(values)] = values
            for tap, matrix in enumerate(matrices):
                _fill(panels[:, tap], matrix)
        return PackedWeights(taps, into, out, panels.ctypes.data, bias.ctypes.data)


def _fill(panels: Floats, matrix: Wide) -> None:
    """panels: float32 [panels, in, width of one]; matrix: [in, out]."""
    rows = len(matrix)
    for at, panel in enumerate(panels):
        part = matrix[:, at * _PANEL : (at + 1) * _PANEL]
        panel[:rows, : part.shape[1]] = part


def panel_floats(rows: int, columns: int) -> int:
    """Floats of packed weights, and of their bias."""
    return -(-columns // _PANEL) * _PANEL * rows + columns


def padded(width: int) -> int:
    """A width that fills the kernel's registers."""
    return -(-width // _PAD) * _PAD


def pad_last(values: Wide) -> Wide:
    """Zeros behind the last axis, up to a width of the kernel."""
    missing = padded(values.shape[-1]) - values.shape[-1]
    if not missing:
        return values
    return np.pad(values, [*[(0, 0)] * (values.ndim - 1), (0, missing)])


def with_padding(values: Floats, width: int) -> Floats:
    """Rows [n, width], with zeros at the end of each if need be; contiguous."""
    missing = width - values.shape[1]
    return np.ascontiguousarray(np.pad(values, ((0, 0), (0, missing))) if missing else values)


def addresses(arrays: Sequence[Floats]) -> ctypes.Array[c_void_p]:
    """Where arrays lie, in order; they must outlive it."""
    return (c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
