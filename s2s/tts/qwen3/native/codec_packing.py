"""Weights for the codec decoder's kernel: arrays packed one behind the other, in large pages where
the system has them, matrices in panels."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_float, c_int, c_void_p
from typing import ClassVar

import numpy as np

from s2s.tts.qwen3.codec.tensors import Wide
from s2s.tts.qwen3.codec.weights import Snake
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.native.library import KernelError
from s2s.tts.qwen3.native.transformer import ThreadPool

_PAD, _PANEL = 16, 48  # CODEC_PAD of codec_layers.h, PANEL of codec_simd.h


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


class Memory:
    """Weights one behind the other, in large pages where the system has them."""

    def __init__(self, pool: ThreadPool, floats: int) -> None:
        pointer: int = pool.kernel.weights_new(4 * floats)
        if not pointer:
            raise KernelError(f"no memory for {floats >> 18} MB of weights")
        self._free = weakref.finalize(self, pool.kernel.weights_free, pointer)
        self._values = np.ctypeslib.as_array(ctypes.cast(pointer, POINTER(c_float)), (floats,))
        self._used = 0

    def take(self, *shape: int) -> Floats:
        """An array of zeros in it."""
        size = int(np.prod(shape))
        values = self._values[self._used : self._used + size].reshape(shape)
        self._used += -(-size // _PAD) * _PAD
        return values

    def vector(self, values: Wide, width: int) -> int:
        """Store values [n], with zeros up to ``width``; returns the address."""
        stored = self.take(width)
        stored[: len(values)] = values
        return stored.ctypes.data

    def snake(self, snake: Snake) -> SnakeWeights:
        """A Snake whose angles are counted in half turns."""
        width = padded(len(snake.scales))
        frequency = self.vector(snake.frequencies / np.pi, width)
        return SnakeWeights(frequency, self.vector(snake.scales, width))

    def pack(self, taps: Sequence[Wide], bias: Wide) -> PackedWeights:
        """Matrices [in, out] of the taps, oldest first, in panels."""
        into, out = (padded(size) for size in taps[0].shape)
        panels = self.take(-(-out // _PANEL), len(taps), into, _PANEL)
        for tap, matrix in enumerate(taps):
            rows = len(matrix)
            for at, panel in enumerate(panels[:, tap]):
                part = matrix[:, at * _PANEL : (at + 1) * _PANEL]
                panel[:rows, : part.shape[1]] = part
        return PackedWeights(len(taps), into, out, panels.ctypes.data, self.vector(bias, out))


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
