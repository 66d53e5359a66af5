"""Codes to sound on MLX: the `CodecDecoder` port, in float32.

States go by the names of ``codec.tensors``: what this exports any other decoder restores. Weights
are folded as for the other cores (``codec.weights``): each bias is added once, and the attention
sees 72 frames. Everything runs in the one thread that computes with MLX, a piece at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from s2s.system.mlx_thread import mlx_thread
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.tensors import (
    DILATIONS,
    INPUT_TAPS,
    KERNEL,
    STATE_PREFIX,
    Tensors,
    Wide,
)
from s2s.tts.qwen3.codec.weights import (
    CONVNEXT_EPS,
    Convolution,
    PreTransformerWeights,
    Snake,
    UpsamplerWeights,
)
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, Stopped
from s2s.tts.qwen3.mlx.transformer import to_mlx

if TYPE_CHECKING:
    from mlx.core import array

MAX_FRAMES_A_RUN = 8
"""A longer call is cut into runs of this many frames: same samples, bounded memory."""
FRAMES_A_PIECE = 2
"""Of a run, as many go through the upsampling layers at once; between two pieces it is asked
whether to stop."""


class MlxCodecDecoder(CheckpointDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread, a state from one at a time."""

    def __init__(self, spec: CodecDecoderSpec, tensors: Tensors) -> None:
        """Raises CodecError for a tensor of another shape."""
        super().__init__(spec)
        self._front, self._back = mlx_thread().call(
            lambda: (_Front(spec, tensors), _Back(spec, tensors))
        )

    def _longest_run(self) -> int:
        return MAX_FRAMES_A_RUN

    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        thread, moving = mlx_thread(), dict(state.arrays)
        if stale():
            raise Stopped
        latents = thread.call(lambda: self._front.run(codes, state.position, moving))
        size = FRAMES_A_PIECE * len(latents) // len(codes)
        sound: list[Floats] = []
        for start in range(0, len(latents), size):
            if stale():
                raise Stopped
            piece = latents[start : start + size]
            sound.append(thread.call(lambda piece=piece: self._back.run(piece, moving)))
        state.arrays = moving
        state.position += len(codes)
        return np.concatenate(sound)


class _Stream:
    """Arrays of a state while a piece is computed."""

    def __init__(self, arrays: dict[str, Floats]) -> None:
        self._arrays = arrays
        self._after: dict[str, array] = {}

    def joined(self, name: str, new: array, keep: int, axis: int = 0) -> array:
        """What came before in front of ``new``; the newest ``keep`` steps are carried on."""
        import mlx.core as mx

        whole = mx.concatenate([to_mlx(self._arrays[STATE_PREFIX + name]), new], axis=axis)
        start = max(0, whole.shape[axis] - keep)
        self._after[name] = whole[start:] if axis == 0 else whole[:, start:]
        return whole

    def finish(self, result: array) -> Floats:
        """Compute all, and move the state on."""
        import mlx.core as mx

        mx.eval(result, list(self._after.values()))
        for name, value in self._after.items():
            self._arrays[STATE_PREFIX + name] = np.array(value)
        return np.array(result)


@dataclass(frozen=True, slots=True)
class _Matrix:
    """[in, out], and a bias [out] or zeros."""

    weight: array
    bias: array

    def __call__(self, x: array) -> array:
        return x @ self.weight + self.bias


@dataclass(frozen=True, slots=True)
class _Taps:
    """A convolution over time. weight: [out, kernel, in / groups]."""

    weight: array
    bias: array
    dilation: int = 1
    groups: int = 1

    def __call__(self, stream: _Stream, name: str, x: array) -> array:
        import mlx.core as mx

        history = (KERNEL - 1) * self.dilation
        padded = stream.joined(name, x, history)
        out = mx.conv1d(padded[None], self.weight, dilation=self.dilation, groups=self.groups)
        return out[0] + self.bias


@dataclass(frozen=True, slots=True)
class _Wave:
    """SnakeBeta."""

    frequencies: array
    scales: array

    def __call__(self, x: array) -> array:
        import mlx.core as mx

        return x + self.scales * mx.square(mx.sin(self.frequencies * x))


def _put(values: Wide) -> array:
    import mlx.core as mx

    made = to_mlx(values.astype(np.float32))
    mx.eval(made)
    return made


def _matrix(weight: Wide, bias: Wide | None = None) -> _Matrix:
    return _Matrix(_put(weight), _put(0 * weight[0] if bias is None else bias))


def _taps(conv: Convolution, dilation: int = 1, groups: int = 1) -> _Taps:
    return _Taps(_put(conv.weight.transpose(0, 2, 1)), _put(conv.bias), dilation, groups)


def _wave(snake: Snake) -> _Wave:
    return _Wave(_put(snake.frequencies), _put(snake.scales))


class _Front:
    """Codes to the steps of the upsampling layers."""

    def __init__(self, spec: CodecDecoderSpec, tensors: Tensors) -> None:
        """In the thread of MLX."""
        weights = PreTransformerWeights(tensors, spec)
        self._spec = spec
        self._codebooks = _put(weights.codebooks())
        self._input = _matrix(*weights.input())
        self._layers = [
            tuple(_matrix(m) for m in (made.query_key_value, made.out, made.gate_up, made.down))
            for made in (weights.layer(at) for at in range(spec.layers))
        ]
        self._ones = _put(np.ones(spec.hidden_size))
        self._upsamples = [
            (
                _matrix(*made.transposed),
                _taps(made.taps, groups=spec.latent_dim),
                _matrix(*made.up),
                _matrix(*made.down),
            )
            for made in (weights.upsample(at) for at in range(len(spec.upsampling_ratios)))
        ]

    def run(self, codes: Ids, position: int, arrays: dict[str, Floats]) -> Floats:
        """codes: int64 [frames, groups]; returns float32 [steps, latent]; ``arrays`` move on."""
        import mlx.core as mx

        spec, stream = self._spec, _Stream(arrays)
        offsets = np.arange(spec.code_groups) * spec.codebook_size
        found = self._codebooks[to_mlx(codes + offsets)]
        vectors = mx.concatenate([found[:, 0], found[:, 1:].sum(axis=1)], axis=1)
        padded = stream.joined("input", vectors, INPUT_TAPS - 1)
        count = len(codes)
        x = self._input(
            mx.concatenate([padded[tap : tap + count] for tap in range(INPUT_TAPS)], axis=1)
        )
        mask = self._mask(min(position, spec.window_frames - 1), count)
        for at in range(spec.layers):
            x = self._layer(at, x, position, mask, stream)
        x = mx.fast.rms_norm(x, self._ones, spec.rms_norm_eps)
        for at, (transposed, taps, up, down) in enumerate(self._upsamples):
            x = transposed(x).reshape(-1, spec.latent_dim)
            inner = taps(stream, f"convnext_{at}", x)
            inner = up(mx.fast.layer_norm(inner, None, None, CONVNEXT_EPS))
            inner = 0.5 * inner * (1 + mx.erf(inner * (0.5**0.5)))
            x = x + down(inner)
        return stream.finish(x)

    def _layer(self, at: int, x: array, position: int, mask: array, stream: _Stream) -> array:
        import mlx.core as mx

        spec, (query_key_value, out, gate_up, down) = self._spec, self._layers[at]
        normed = mx.fast.rms_norm(x, self._ones, spec.rms_norm_eps)
        heads = query_key_value(normed).reshape(len(x), 3 * spec.heads, spec.head_dim)
        query, key, value = mx.split(heads.transpose(1, 0, 2), 3, axis=0)
        query, key = (
            mx.fast.rope(
                each[None],
                spec.head_dim,
                traditional=False,
                base=spec.rope_theta,
                scale=1.0,
                offset=position,
            )[0]
            for each in (query, key)
        )
        keep = spec.window_frames - 1
        keys = stream.joined(f"key_{at}", key, keep, axis=1)
        values = stream.joined(f"value_{at}", value, keep, axis=1)
        scores = mx.softmax(query @ keys.transpose(0, 2, 1) + mask, axis=-1)
        mixed = (scores @ values).transpose(1, 0, 2).reshape(len(x), -1)
        x = x + out(mixed)
        gate, up = mx.split(gate_up(mx.fast.rms_norm(x, self._ones, spec.rms_norm_eps)), 2, axis=1)
        return x + down(gate * mx.sigmoid(gate) * up)

    def _mask(self, past: int, count: int) -> array:
        """Added to scores [count, past + count]: each frame sees itself and what came before, as
        far as the window reaches."""
        ages = np.arange(past, past + count)[:, None] - np.arange(past + count)
        seen = (ages >= 0) & (ages < self._spec.window_frames)
        return to_mlx(np.where(seen, np.float32(0), np.float32(-1e9)))


class _Back:
    """Steps to samples."""

    def __init__(self, spec: CodecDecoderSpec, tensors: Tensors) -> None:
        """In the thread of MLX."""
        weights = UpsamplerWeights(tensors, spec)
        self._first = _taps(weights.first())
        self._blocks = [
            (
                _wave(weights.before_transposed(block)),
                _matrix(*weights.transposed(block)),
                [
                    _residual(weights, block, unit, dilation)
                    for unit, dilation in enumerate(DILATIONS)
                ],
            )
            for block in range(1, len(spec.upsample_rates) + 1)
        ]
        snake, conv = weights.last()
        self._last = _wave(snake), _taps(conv)
        self._rates = spec.upsample_rates

    def run(self, steps: Floats, arrays: dict[str, Floats]) -> Floats:
        """steps: float32 [steps, latent]; returns float32 [samples]; ``arrays`` move on."""
        import mlx.core as mx

        stream = _Stream(arrays)
        x = self._first(stream, "first", to_mlx(steps))
        for block, (wave, transposed, residuals) in enumerate(self._blocks, start=1):
            padded = stream.joined(f"spread_{block}", wave(x), 1)
            x = transposed(mx.concatenate([padded[:-1], padded[1:]], axis=1))
            x = x.reshape(padded.shape[0] * self._rates[block - 1] - self._rates[block - 1], -1)
            for unit, (before, conv, scales, matrix) in enumerate(residuals):
                angles = conv(stream, f"unit_{block}_{unit}", before(x))
                x = x + matrix(angles + scales * mx.square(mx.sin(angles)))
        wave, conv = self._last
        return stream.finish(mx.clip(conv(stream, "last", wave(x)), -1.0, 1.0).reshape(-1))


def _residual(
    weights: UpsamplerWeights, block: int, unit: int, dilation: int
) -> tuple[_Wave, _Taps, array, _Matrix]:
    made = weights.residual(block, unit)
    return (
        _wave(made.before),
        _taps(made.conv, dilation),
        _put(made.scales),
        _matrix(made.matrix, made.bias),
    )
