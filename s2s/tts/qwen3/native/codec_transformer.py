"""The codec decoder's pre-transformer on the compiled kernel: codes in, latent steps out.

Its time goes into reading weights, which lie in large pages where the system has them.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from ctypes import POINTER, Structure, c_float, c_int, c_longlong, c_void_p
from functools import cache
from typing import ClassVar

import numpy as np

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.tensors import INPUT_TAPS, KERNEL, Tensors, Wide, transformer_state
from s2s.tts.qwen3.codec.weights import CONVNEXT_EPS, PreTransformerWeights
from s2s.tts.qwen3.interfaces import Floats, Ids
from s2s.tts.qwen3.native.codec_packing import (
    Memory,
    PackedWeights,
    addresses,
    padded,
    panel_floats,
)
from s2s.tts.qwen3.native.kept import Origin, Packed
from s2s.tts.qwen3.native.library import Functions, KernelError, bind, require
from s2s.tts.qwen3.native.transformer import ThreadPool

_PART = "codec-transformer"


class _Layer(Structure):
    _fields_: ClassVar = [
        (name, PackedWeights) for name in ("query_key_value", "out", "gate_up", "down")
    ]


class _Upsample(Structure):
    _fields_: ClassVar = [
        ("transposed", PackedWeights),
        ("depthwise", c_void_p),
        ("depthwise_bias", c_void_p),
        ("up", PackedWeights),
        ("down", PackedWeights),
    ]


class _Shape(Structure):
    _fields_: ClassVar = [
        ("layers", c_int),
        ("heads", c_int),
        ("head_dim", c_int),
        ("window", c_int),
        ("upsamples", c_int),
        ("frames", c_int),
        ("epsilon", c_float),
        ("step_epsilon", c_float),
        ("frequencies", c_void_p),
        ("input", PackedWeights),
        ("layer", POINTER(_Layer)),
        ("upsample", POINTER(_Upsample)),
    ]


_FUNCTIONS: Functions = {
    "codec_transformer_new": (c_void_p, [POINTER(_Shape), c_void_p]),
    "codec_transformer_free": (None, [c_void_p]),
    "codec_transformer_run": (
        c_int,
        [c_void_p, c_void_p, c_int, c_longlong, POINTER(c_void_p), POINTER(c_void_p), c_void_p],
    ),
}

_STRUCTURES: dict[str, type[Structure]] = {
    "CodecTransformerLayer": _Layer,
    "Upsample": _Upsample,
    "CodecTransformerShape": _Shape,
    "PackedWeights": PackedWeights,
}


class CodecTransformer:
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

        Raises KernelError when memory runs out or a width is not a multiple of 16, CodecError for a
        tensor of another shape.
        """
        for width in (spec.codebook_dim, spec.latent_dim, spec.hidden_size, spec.head_dim,
                      spec.intermediate_size):  # fmt: skip
            if padded(width) != width:
                raise KernelError(
                    f"a codec decoder with a width of {width}: not a multiple of 16; take "
                    "the onnx codec"
                )
        self._pool, self._lib, self._spec = pool, pool.kernel, spec
        bind(self._lib, _FUNCTIONS, _STRUCTURES)
        weights = PreTransformerWeights(tensors, spec)
        self._memory = Memory(pool, _floats_needed(spec), _PART, origin, repr(spec))
        self._codebooks = self._memory.rows(
            weights.codebooks, (spec.code_groups * spec.codebook_size, spec.codebook_dim // 2)
        )
        shape = _pack(self._memory, weights, frames)
        self._memory.keep()
        self._pointer: int = self._lib.codec_transformer_new(ctypes.byref(shape), pool.pointer)
        if not self._pointer:
            raise KernelError("no memory for a codec decoder")
        self._shape = shape  # the kernel reads what it points to
        self._free = weakref.finalize(self, self._lib.codec_transformer_free, self._pointer)

    @property
    def packed(self) -> Packed:
        """The weights as they lie in memory: uint8 [n], for as long as this lives."""
        return self._memory.packed

    def run(
        self, codes: Ids, position: int, state: Sequence[Floats]
    ) -> tuple[Floats, list[Floats]]:
        """Latent steps for the upsampling decoder, and the streaming state after them.

        codes: int64 [frames, groups]; returns float32 [frames * steps, latent_dim]. position:
        frames that came earlier. state: in the order of `transformer_state`. Raises KernelError in
        a fork of the process that made it.
        """
        spec, frames = self._spec, len(codes)
        vectors = self._vectors(codes)
        state = [np.ascontiguousarray(array) for array in state]
        next_state = [
            np.empty(shape, np.float32)
            for shape in transformer_state(spec, position + frames).values()
        ]
        steps = frames * int(np.prod(spec.upsampling_ratios))
        latents = np.empty((steps, spec.latent_dim), np.float32)
        status = self._lib.codec_transformer_run(
            self._pointer, vectors.ctypes.data, frames, position, addresses(state),
            addresses(next_state), latents.ctypes.data,
        )  # fmt: skip
        require(status, "no memory for a run of the codec decoder")
        return latents, next_state

    def _vectors(self, codes: Ids) -> Floats:
        """Sums of code vectors, semantic beside acoustic: [frames, codebook_dim]."""
        groups = np.arange(int(codes.shape[1])) * self._spec.codebook_size
        found = self._codebooks[codes + groups]
        return np.concatenate([found[:, 0], found[:, 1:].sum(1)], axis=1)


def _pack(memory: Memory, weights: PreTransformerWeights, frames: int) -> _Shape:
    spec = weights.spec
    layers = (_Layer * spec.layers)(*(_layer(memory, weights, at) for at in range(spec.layers)))
    count = len(spec.upsampling_ratios)
    upsamples = (_Upsample * count)(*(_upsample(memory, weights, at) for at in range(count)))
    hidden, book = spec.hidden_size, spec.codebook_dim
    exponents = np.arange(0, spec.head_dim, 2, dtype=np.float32) / np.float32(spec.head_dim)
    frequencies = np.float32(1.0) / np.float32(spec.rope_theta) ** exponents
    return _Shape(
        layers=spec.layers,
        heads=spec.heads,
        head_dim=spec.head_dim,
        window=spec.window_frames,
        upsamples=count,
        frames=frames,
        epsilon=spec.rms_norm_eps,
        step_epsilon=CONVNEXT_EPS,
        frequencies=memory.vector(lambda: frequencies.astype(np.float64), len(frequencies)),
        input=memory.pack((INPUT_TAPS, book, hidden), lambda: _input(weights)),
        layer=layers,
        upsample=upsamples,
    )


def _input(weights: PreTransformerWeights) -> tuple[list[Wide], Wide]:
    matrix, bias = weights.input()
    return np.split(matrix, INPUT_TAPS), bias


def _layer(memory: Memory, weights: PreTransformerWeights, at: int) -> _Layer:
    spec, layer = weights.spec, cache(lambda: weights.layer(at))
    heads, hidden, inner = spec.heads * spec.head_dim, spec.hidden_size, spec.intermediate_size

    def pack(into: int, out: int, matrix: Callable[[], Wide]) -> PackedWeights:
        return memory.pack((1, into, out), lambda: ([matrix()], np.zeros(out)))

    return _Layer(
        pack(hidden, 3 * heads, lambda: layer().query_key_value),
        pack(heads, hidden, lambda: layer().out),
        pack(hidden, 2 * inner, lambda: layer().gate_up),
        pack(inner, hidden, lambda: layer().down),
    )


def _upsample(memory: Memory, weights: PreTransformerWeights, at: int) -> _Upsample:
    spec, upsample = weights.spec, cache(lambda: weights.upsample(at))
    latent, factor = spec.latent_dim, spec.upsampling_ratios[at]

    def pack(into: int, out: int, pair: Callable[[], tuple[Wide, Wide]]) -> PackedWeights:
        def made() -> tuple[list[Wide], Wide]:
            matrix, bias = pair()
            return [matrix], bias

        return memory.pack((1, into, out), made)

    return _Upsample(
        pack(latent if at else spec.hidden_size, factor * latent, lambda: upsample().transposed),
        memory.vector(lambda: upsample().taps.weight[:, 0].T.ravel(), KERNEL * latent),
        memory.vector(lambda: upsample().taps.bias, latent),
        pack(latent, 4 * latent, lambda: upsample().up),
        pack(4 * latent, latent, lambda: upsample().down),
    )


def _floats_needed(spec: CodecDecoderSpec) -> int:
    """Room for all weights."""
    codebooks = spec.code_groups * spec.codebook_size * (spec.codebook_dim // 2)
    hidden, inner, latent = spec.hidden_size, spec.intermediate_size, spec.latent_dim
    heads = spec.heads * spec.head_dim
    total = padded(codebooks) + panel_floats(INPUT_TAPS * spec.codebook_dim, hidden)
    total += padded(spec.head_dim)
    total += spec.layers * sum(
        panel_floats(*shape)
        for shape in ((hidden, 3 * heads), (heads, hidden), (hidden, 2 * inner), (inner, hidden))
    )
    for at, factor in enumerate(spec.upsampling_ratios):
        total += panel_floats(latent if at else hidden, factor * latent)
        total += panel_floats(latent, 4 * latent) + panel_floats(4 * latent, latent)
        total += (KERNEL + 1) * latent
    return total
