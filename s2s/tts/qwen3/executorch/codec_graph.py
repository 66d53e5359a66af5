"""The codec decoder as an ExecuTorch program, straight from a checkpoint's tensors.

Method ``transformer`` computes any number of frames up to `MOST_FRAMES`: code vectors of the three
newest frames side by side in, normed rows out. ``wave`` makes samples of one of those rows, at one
fixed size: nearly all of the work is there, and between two frames it can be asked whether to stop.
What a stream carries along is inputs and outputs of both. Weights are folded as for the other
cores (``codec.weights``). A convolution over time is a product for each tap, summed: on XNNPACK
that is faster than its convolution (docs/decisions/qwen3-executorch-core.md). Knows nothing of
running.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.tensors import (
    DILATIONS,
    INPUT_TAPS,
    KERNEL,
    STATE_PREFIX,
    Tensors,
    Wide,
    transformer_state,
    upsampler_state,
)
from s2s.tts.qwen3.codec.weights import (
    CONVNEXT_EPS,
    Convolution,
    PreTransformerWeights,
    Snake,
    UpsamplerWeights,
)
from s2s.tts.qwen3.executorch.parts import (
    HeadShape,
    Method,
    Past,
    Product,
    ProgramParts,
    Rotation,
    Sizes,
    attend,
    swap_matrix,
    tensor,
)

if TYPE_CHECKING:
    from torch import Tensor

TRANSFORMER, WAVE = "transformer", "wave"
"""Names of methods."""
MOST_FRAMES = 8
"""Of one call of `TRANSFORMER`."""
_FRAMES = 4
"""Of the example that is traced."""


def codec_methods(spec: CodecDecoderSpec, tensors: Tensors) -> dict[str, Method]:
    """Both. Raises CodecError for a tensor of another shape."""
    return {TRANSFORMER: _transformer(spec, tensors), WAVE: _wave(spec, tensors)}


def wave_state(spec: CodecDecoderSpec) -> dict[str, tuple[int, ...]]:
    """Shapes of what `WAVE` carries along, by name, in the order of its inputs and outputs."""
    before = transformer_state(spec, 0)
    convnext = {name: before[name] for name in before if "convnext_" in name}
    return convnext | dict(upsampler_state(spec))


@dataclass(frozen=True, slots=True)
class _Layer:
    query: Product
    key: Product
    value: Product
    out: Product
    gate: Product
    up: Product
    down: Product


def _transformer(spec: CodecDecoderSpec, tensors: Tensors) -> Method:
    """Inputs: vectors float32 [n, 3 * codebook_dim]; ``cosine`` and ``sine`` [n, 1, head_dim];
    masks [n, window - 1] and [n, n]; for each layer keys [heads, head_dim, window - 1] and values
    [heads, window - 1, head_dim]. Outputs: normed rows [n, hidden]; for each layer keys and values
    [heads, n, head_dim] of the new frames."""
    import torch

    parts, weights = ProgramParts(), PreTransformerWeights(tensors, spec)
    shape = HeadShape(spec.heads, spec.heads, spec.head_dim)
    into, bias = weights.input()
    first, swap = parts.matrix(into.T, bias), parts.matrix(swap_matrix(spec.head_dim))
    layers = [_layer(parts, weights, at) for at in range(spec.layers)]
    norm = parts.norm(spec.hidden_size, spec.rms_norm_eps)

    def compute(
        vectors: Tensor, cosine: Tensor, sine: Tensor, before: Tensor, new: Tensor, *caches: Tensor
    ) -> tuple[Tensor, ...]:
        turn, mask, x = Rotation(cosine, sine, swap), torch.cat([before, new], -1), first(vectors)
        made: list[Tensor] = []
        for at, layer in enumerate(layers):
            normed = norm(x)
            query, key, value = (
                matrix(normed).view(-1, shape.heads, shape.width)
                for matrix in (layer.query, layer.key, layer.value)
            )
            past = Past(caches[2 * at], caches[2 * at + 1], mask)
            mixed, key, value = attend(shape, turn(query), turn(key), value, past)
            x = x + layer.out(mixed)
            normed = norm(x)
            gate = layer.gate(normed)
            x = x + layer.down(gate * torch.sigmoid(gate) * layer.up(normed))
            made += [key, value]
        return norm(x), *made

    return Method(parts.module(compute), *_transformer_example(spec))


def _layer(parts: ProgramParts, weights: PreTransformerWeights, at: int) -> _Layer:
    made = weights.layer(at)
    query, key, value = np.split(made.query_key_value.T, 3)
    gate, up = np.split(made.gate_up.T, 2)
    return _Layer(
        *(parts.matrix(m) for m in (query, key, value, made.out.T, gate, up, made.down.T))
    )


def _transformer_example(
    spec: CodecDecoderSpec,
) -> tuple[tuple[Tensor, ...], tuple[Sizes, ...]]:
    from torch.export import Dim

    frames, room = Dim("frames", min=2, max=MOST_FRAMES), spec.window_frames - 1
    shapes: list[tuple[int, ...]] = [
        (_FRAMES, INPUT_TAPS * spec.codebook_dim), (_FRAMES, 1, spec.head_dim),
        (_FRAMES, 1, spec.head_dim), (_FRAMES, room), (_FRAMES, _FRAMES),
    ]  # fmt: skip
    free: list[Sizes] = [{0: frames}] * 4
    free.append({0: frames, 1: frames})
    for _ in range(spec.layers):
        shapes += [(spec.heads, spec.head_dim, room), (spec.heads, room, spec.head_dim)]
        free += [{}, {}]
    return tuple(tensor(np.zeros(shape, np.float32)) for shape in shapes), tuple(free)


class _Stream:
    """What is carried along while a frame is computed."""

    def __init__(self, names: list[str], arrays: tuple[Tensor, ...]) -> None:
        self._arrays = dict(zip(names, arrays, strict=True))

    def joined(self, name: str, new: Tensor) -> Tensor:
        """What came before in front of ``new``; the newest as many steps are carried on."""
        import torch

        before = self._arrays[STATE_PREFIX + name]
        whole = torch.cat([before, new], 0)
        self._arrays[STATE_PREFIX + name] = whole[whole.shape[0] - before.shape[0] :]
        return whole

    def after(self) -> tuple[Tensor, ...]:
        """As they came in, moved on."""
        return tuple(self._arrays.values())


_Streamed = Callable[[_Stream, "Tensor"], "Tensor"]


@dataclass(frozen=True, slots=True)
class _Taps:
    """A convolution over time: a product, or factors of each channel, for each tap."""

    taps: list[Product]
    dilation: int

    def __call__(self, stream: _Stream, name: str, x: Tensor) -> Tensor:
        padded = stream.joined(name, x)
        starts = range(0, KERNEL * self.dilation, self.dilation)
        count = x.shape[0]
        first, *rest = (
            tap(padded[start : start + count]) for tap, start in zip(self.taps, starts, strict=True)
        )
        for each in rest:
            first = first + each
        return first


def _taps(parts: ProgramParts, conv: Convolution, dilation: int = 1) -> _Taps:
    return _Taps(
        [
            parts.matrix(conv.weight[:, :, tap], conv.bias if not tap else None)
            for tap in range(KERNEL)
        ],
        dilation,
    )


def _channel_taps(conv: Convolution) -> _Taps:
    """Of each channel by itself."""

    def tap(at: int) -> Product:
        factors = tensor(conv.weight[:, 0, at])
        bias = None if at else tensor(conv.bias)
        return lambda x: x * factors if bias is None else x * factors + bias

    return _Taps([tap(at) for at in range(KERNEL)], 1)


def _wavy(snake: Snake) -> Product:
    """SnakeBeta."""
    import torch

    frequencies, scales = tensor(snake.frequencies), tensor(snake.scales)

    def wavy(x: Tensor) -> Tensor:
        turned = torch.sin(x * frequencies)
        return x + scales * (turned * turned)

    return wavy


def _layer_norm(parts: ProgramParts, width: int) -> Product:
    import torch

    mean = parts.matrix(np.full((1, width), 1 / width, np.float32))

    def normed(x: Tensor) -> Tensor:
        centred = x - mean(x)
        return centred * torch.rsqrt(mean(centred * centred) + CONVNEXT_EPS)

    return normed


def _matrix(parts: ProgramParts, weight: Wide, bias: Wide | None = None) -> Product:
    """``weight`` [in, out]."""
    return parts.matrix(weight.T, bias)


def _wave(spec: CodecDecoderSpec, tensors: Tensors) -> Method:
    """Inputs: a row float32 [1, hidden], and the arrays of `wave_state`. Outputs: samples
    float32 [samples_per_frame, 1], and the arrays moved on."""
    parts, shapes = ProgramParts(), wave_state(spec)
    upsample = _upsampling(parts, spec, tensors)
    finish = _sounding(parts, spec, tensors)

    def compute(row: Tensor, *arrays: Tensor) -> tuple[Tensor, ...]:
        stream = _Stream(list(shapes), arrays)
        samples = finish(stream, upsample(stream, row))
        return samples, *stream.after()

    sizes = [(1, spec.hidden_size), *shapes.values()]
    example = tuple(tensor(np.zeros(size, np.float32)) for size in sizes)
    return Method(parts.module(compute), example)


def _upsampling(parts: ProgramParts, spec: CodecDecoderSpec, tensors: Tensors) -> _Streamed:
    import torch

    weights, width = PreTransformerWeights(tensors, spec), spec.latent_dim
    norm = _layer_norm(parts, width)
    stages = [
        (
            _matrix(parts, *made.transposed),
            _channel_taps(made.taps),
            _matrix(parts, *made.up),
            _matrix(parts, *made.down),
        )
        for made in (weights.upsample(at) for at in range(len(spec.upsampling_ratios)))
    ]

    def upsample(stream: _Stream, x: Tensor) -> Tensor:
        for at, (transposed, taps, up, down) in enumerate(stages):
            x = transposed(x).view(-1, width)
            inner = up(norm(taps(stream, f"convnext_{at}", x)))
            x = x + down(torch.nn.functional.gelu(inner))
        return x

    return upsample


@dataclass(frozen=True, slots=True)
class _Residual:
    before: Product
    conv: _Taps
    scales: Tensor
    matrix: Product


def _residual(parts: ProgramParts, weights: UpsamplerWeights, block: int, unit: int) -> _Residual:
    made = weights.residual(block, unit)
    return _Residual(
        _wavy(made.before),
        _taps(parts, made.conv, DILATIONS[unit]),
        tensor(made.scales),
        _matrix(parts, made.matrix, made.bias),
    )


def _sounding(parts: ProgramParts, spec: CodecDecoderSpec, tensors: Tensors) -> _Streamed:
    import torch

    weights = UpsamplerWeights(tensors, spec)
    blocks = range(1, len(spec.upsample_rates) + 1)
    begin = _taps(parts, weights.first())
    waves = [_wavy(weights.before_transposed(block)) for block in blocks]
    spread = [_matrix(parts, *weights.transposed(block)) for block in blocks]
    units = [
        [_residual(parts, weights, block, unit) for unit in range(len(DILATIONS))]
        for block in blocks
    ]
    snake, conv = weights.last()
    wave, last = _wavy(snake), _taps(parts, conv)

    def finish(stream: _Stream, steps: Tensor) -> Tensor:
        x = begin(stream, "first", steps)
        for block in blocks:
            padded = stream.joined(f"spread_{block}", waves[block - 1](x))
            count, width = x.shape[0], x.shape[1] // 2
            pairs = torch.cat([padded[:count], padded[1:]], 1)
            x = spread[block - 1](pairs).view(-1, width)
            for unit, residual in enumerate(units[block - 1]):
                angles = residual.conv(stream, f"unit_{block}_{unit}", residual.before(x))
                turned = torch.sin(angles)
                x = x + residual.matrix(angles + residual.scales * (turned * turned))
        return torch.clamp(last(stream, "last", wave(x)), -1.0, 1.0)

    return finish
