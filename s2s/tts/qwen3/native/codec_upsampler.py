"""The upsampling decoder of the codec on the compiled kernel: latent steps in, samples out.

Convolutions are computed by Winograd tiles of four steps, which saves up to half of the products;
weights lie in panels, in large pages where the system has them.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from ctypes import CFUNCTYPE, POINTER, Structure, c_int, c_longlong, c_void_p
from functools import cache
from typing import ClassVar

import numpy as np

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.tensors import (
    DILATIONS,
    KERNEL,
    Tensors,
    Wide,
    block_width,
    upsampler_state,
)
from s2s.tts.qwen3.codec.weights import Convolution, Snake, UpsamplerWeights
from s2s.tts.qwen3.interfaces import Floats, Stale, Stopped, never
from s2s.tts.qwen3.native.codec_packing import (
    Memory,
    PackedWeights,
    SnakeWeights,
    addresses,
    pad_last,
    padded,
    panel_floats,
    with_padding,
)
from s2s.tts.qwen3.native.kept import Origin, Packed
from s2s.tts.qwen3.native.library import Functions, KernelError, bind, require
from s2s.tts.qwen3.native.transformer import ThreadPool

_PART = "codec-upsampler"

_Points = Sequence[tuple[float, float]]

_POINTS: _Points = ((0, -2), (1, -3), (-1, 9), (2, 36), (-2, -60), (0.5, 45 / 32))
"""Where the polynomials of a Winograd tile are multiplied, beside infinity: each point, and the
product of its distances to the others."""
_FRONT = 4
"""Taps of the first of the two polynomials that a convolution is taken for."""
_MATRICES = 2 * len(_POINTS) + 1  # WINOGRAD_MATRICES of codec_tiles.h
_TRANSPOSED_POINTS: _Points = ((0, 2), (1, -2), (-1, -6), (2, 6))
_TRANSPOSED_MATRICES = len(_TRANSPOSED_POINTS) + 1
_TRANSPOSED_STEPS = 4  # as the two above: codec_transposed.h


class _Unit(Structure):
    _fields_: ClassVar = [
        ("dilation", c_int),
        ("snake_in", SnakeWeights),
        ("winograd", PackedWeights),
        ("snake_middle", SnakeWeights),
        ("pointwise", PackedWeights),
    ]


class _Block(Structure):
    _fields_: ClassVar = [
        ("stride", c_int),
        ("snake_in", SnakeWeights),
        ("transposed", PackedWeights),
        ("units", _Unit * len(DILATIONS)),
    ]


class _Shape(Structure):
    _fields_: ClassVar = [
        ("steps", c_int),
        ("blocks", c_int),
        ("batched_blocks", c_int),
        ("frames", c_int),
        ("input", PackedWeights),
        ("block", POINTER(_Block)),
        ("snake_out", SnakeWeights),
        ("output", c_void_p),
        ("output_bias", c_void_p),
    ]


_Stale = CFUNCTYPE(c_int)

_FUNCTIONS: Functions = {
    "codec_upsampler_new": (c_void_p, [POINTER(_Shape), c_void_p]),
    "codec_upsampler_free": (None, [c_void_p]),
    "codec_upsampler_run": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_int,
            c_longlong,
            POINTER(c_void_p),
            POINTER(c_void_p),
            c_void_p,
            _Stale,
        ],
    ),
}

_STRUCTURES: dict[str, type[Structure]] = {
    "ResidualUnit": _Unit,
    "Block": _Block,
    "CodecUpsamplerShape": _Shape,
    "PackedWeights": PackedWeights,
    "Snake": SnakeWeights,
}


class CodecUpsampler:
    """The packed weights of one checkpoint and the memory it is computed in."""

    def __init__(
        self,
        pool: ThreadPool,
        tensors: Tensors,
        spec: CodecDecoderSpec,
        *,
        frames: int,
        origin: Origin | None = None,
    ) -> None:
        """Pack the weights, or read them as they were packed of ``origin``; a call takes at most
        ``frames`` frames.

        Raises KernelError when memory runs out, CodecError for a tensor of another shape.
        """
        self._pool, self._lib = pool, pool.kernel
        bind(self._lib, _FUNCTIONS, _STRUCTURES)
        self._states = list(upsampler_state(spec).values())
        self._padded = [padded(width) for _, width in self._states]
        self._latent = spec.latent_dim
        self._frame_samples = spec.samples_per_frame
        self._memory = Memory(pool, _floats_needed(spec), _PART, origin, repr(spec))
        shape = _pack(self._memory, UpsamplerWeights(tensors, spec), frames)
        self._memory.keep()
        self._pointer: int = self._lib.codec_upsampler_new(ctypes.byref(shape), pool.pointer)
        if not self._pointer:
            raise KernelError("no memory for a codec decoder")
        self._shape = shape  # the kernel reads what it points to
        self._free = weakref.finalize(self, self._lib.codec_upsampler_free, self._pointer)

    @property
    def packed(self) -> Packed:
        """The weights as they lie in memory: uint8 [n], for as long as this lives."""
        return self._memory.packed

    def run(
        self,
        latents: Floats,
        frames: int,
        position: int,
        state: Sequence[Floats],
        stale: Stale = never,
    ) -> tuple[Floats, list[Floats]]:
        """Samples of the next frames, and the streaming state after them. Raises Stopped once
        ``stale``, which is asked between blocks and between frames.

        latents: float32 [frames * steps, latent_dim]. position: frames that came earlier.
        state: float32 [steps, width] each, in the order of `upsampler_state`.
        """
        latents = with_padding(latents, padded(self._latent))
        padded_state = [with_padding(*each) for each in zip(state, self._padded, strict=True)]
        next_state = [
            np.empty((steps, width), np.float32)
            for (steps, _), width in zip(self._states, self._padded, strict=True)
        ]
        samples = np.empty(frames * self._frame_samples, np.float32)
        asked = _Stale() if stale is never else _Stale(lambda: int(stale()))
        status = self._lib.codec_upsampler_run(
            self._pointer, latents.ctypes.data, frames, position, addresses(padded_state),
            addresses(next_state), samples.ctypes.data, asked,
        )  # fmt: skip
        require(status, "no memory for a run of the codec decoder")
        if status:
            raise Stopped
        return samples, [
            array[:, :width] for array, (_, width) in zip(next_state, self._states, strict=True)
        ]


def _pack(memory: Memory, weights: UpsamplerWeights, frames: int) -> _Shape:
    spec = weights.spec
    count = len(spec.upsample_rates)
    blocks = (_Block * count)(*(_block(memory, weights, at + 1) for at in range(count)))
    last = cache(weights.last)
    width = block_width(spec, count + 1)

    def output() -> Wide:
        taps = np.zeros((KERNEL, padded(width)))
        taps[:, :width] = last()[1].weight[0].T
        return taps.ravel()

    return _Shape(
        steps=int(np.prod(spec.upsampling_ratios)),
        blocks=count,
        batched_blocks=max(1, count - 2),
        frames=frames,
        input=memory.pack(
            (KERNEL, spec.latent_dim, spec.decoder_dim), lambda: _convolution(weights.first())
        ),
        block=blocks,
        snake_out=memory.snake(lambda: last()[0], width),
        output=memory.vector(output, KERNEL * padded(width)),
        output_bias=memory.vector(lambda: last()[1].bias, 1),
    )


def _transposed_matrices(spec: CodecDecoderSpec, block: int) -> int:
    """How many matrices the transposed convolution in front of a block is computed by: two taps, or
    more for tiles. The first has too few steps to make up for reading more weights."""
    steps = int(np.prod(spec.upsampling_ratios) * np.prod(spec.upsample_rates[: block - 1]))
    return 2 if block == 1 or steps % _TRANSPOSED_STEPS else _TRANSPOSED_MATRICES


def _block(memory: Memory, weights: UpsamplerWeights, block: int) -> _Block:
    width, rate = block_width(weights.spec, block), weights.spec.upsample_rates[block - 1]
    out, count = width // 2, _transposed_matrices(weights.spec, block)

    def transposed() -> tuple[list[Wide], Wide]:
        matrix, bias = weights.transposed(block)
        parts = matrix.reshape(2, width, rate, out)
        taps = [pad_last(part).reshape(width, -1) for part in parts]
        tiled = count == _TRANSPOSED_MATRICES
        matrices = [*_at_points(taps, _TRANSPOSED_POINTS), taps[-1]] if tiled else taps
        return matrices, pad_last(bias.reshape(rate, out)).ravel()

    return _Block(
        rate,
        memory.snake(lambda: weights.before_transposed(block), width),
        memory.pack((count, width, rate * padded(out)), transposed),
        (_Unit * len(DILATIONS))(
            *(_unit(memory, weights, (block, at)) for at in range(len(DILATIONS)))
        ),
    )


def _unit(memory: Memory, weights: UpsamplerWeights, place: tuple[int, int]) -> _Unit:
    """place: its block, and which of the block's units it is."""
    unit, width = cache(lambda: weights.residual(*place)), block_width(weights.spec, place[0] + 1)
    angles = cache(lambda: Snake(np.ones_like(unit().scales), unit().scales))
    return _Unit(
        DILATIONS[place[1]],
        memory.snake(lambda: unit().before, width),
        memory.pack(
            (_MATRICES, width, width), lambda: (_winograd_matrices(unit().conv), unit().conv.bias)
        ),
        memory.snake(angles, width),
        memory.pack((1, width, width), lambda: ([unit().matrix], unit().bias)),
    )


def _convolution(conv: Convolution) -> tuple[list[Wide], Wide]:
    return _taps(conv), conv.bias


def _winograd_matrices(conv: Convolution) -> list[Wide]:
    """The matrices of a convolution of kernel 7, in the order of codec_upsampler.h."""
    front, back = _taps(conv)[:_FRONT], _taps(conv)[_FRONT:]
    return [*_at_points(front, _POINTS), front[-1], *_at_points(back, _POINTS)]


def _at_points(taps: Sequence[Wide], points: _Points) -> list[Wide]:
    """A polynomial whose coefficients are taps, at each point, by its distances to the others."""
    return [
        sum((tap * point**power for power, tap in enumerate(taps[1:], 1)), taps[0]) / apart
        for point, apart in points
    ]


def _taps(conv: Convolution) -> list[Wide]:
    """Matrices [in, out], oldest step first."""
    return [conv.weight[:, :, tap].T for tap in range(conv.weight.shape[2])]


def _floats_needed(spec: CodecDecoderSpec) -> int:
    """Room for all weights, with each vector rounded up."""
    total = panel_floats(KERNEL * padded(spec.latent_dim), padded(spec.decoder_dim))
    for block, rate in enumerate(spec.upsample_rates, 1):
        into, out = padded(block_width(spec, block)), padded(block_width(spec, block + 1))
        total += panel_floats(_transposed_matrices(spec, block) * into, rate * out) + 2 * into
        total += len(DILATIONS) * (
            panel_floats(_MATRICES * out, out) + panel_floats(out, out) + 4 * out
        )
    return (
        total + (2 + KERNEL) * padded(block_width(spec, len(spec.upsample_rates) + 1)) + padded(1)
    )
