"""Talker and code predictor as ExecuTorch programs, straight from a checkpoint's tensors.

Method ``layers`` of either is a stack of Qwen3 layers over a free number of new rows. Nothing is
kept inside: keys and values of what came before are inputs, those of the new rows outputs, so a
state is plain arrays, any number of them share the weights, and one can be cut back or copied.
``head`` and ``head_0`` on are single matrices, ``projection`` narrows the talker's hidden vector
for the predictor. Knows nothing of running them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
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
from s2s.tts.qwen3.executorch.quant import ExportMix, head_mix
from s2s.tts.qwen3.reference import PREDICTOR_NAME, TALKER_NAME

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

LAYERS, HEAD, PROJECTION = "layers", "head", "projection"
"""Names of methods."""
MOST_ROWS = 64
"""Of one call of `LAYERS`: a longer prompt is fed in blocks."""
MOST_ROOM = 1 << 15
"""Positions that a talker's memory can grow to."""
_PREDICTOR = "talker.code_predictor"
_ROWS, _ROOM = 4, 32
"""Of the example that is traced."""


def talker_methods(spec: Spec, weights: Checkpoint, mix: ExportMix) -> dict[str, Method]:
    """`LAYERS`, see `ExportedStack`, and `HEAD`: a hidden row float32 [1, H] to logits [1, V]."""
    head = "talker.codec_head.weight"
    return {
        LAYERS: _layers(weights, TALKER_NAME, spec.talker, mix, None),
        HEAD: _product(weights, head, None, head_mix(mix)),
    }


def predictor_methods(spec: Spec, weights: Checkpoint, mix: ExportMix) -> dict[str, Method]:
    """`LAYERS` with room for one frame, a head for each code, and where it is needed
    `PROJECTION`: [1, H] to [1, width]."""
    small = head_mix(mix)
    methods = {LAYERS: _layers(weights, PREDICTOR_NAME, spec.predictor, mix, spec.groups)}
    for group in range(spec.groups - 1):
        name = f"{_PREDICTOR}.lm_head.{group}.weight"
        methods[f"{HEAD}_{group}"] = _product(weights, name, None, small)
    if spec.projected:
        name = f"{_PREDICTOR}.small_to_mtp_projection"
        methods[PROJECTION] = _product(weights, f"{name}.weight", f"{name}.bias", small)
    return methods


def stack_bytes(mix: ExportMix, spec: DecoderSpec) -> int:
    """About what a stack takes in a file."""
    inner, outer = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    shapes = [
        (inner, spec.hidden), (outer, spec.hidden), (outer, spec.hidden), (spec.hidden, inner),
        (spec.intermediate, spec.hidden), (spec.intermediate, spec.hidden),
        (spec.hidden, spec.intermediate),
    ]  # fmt: skip
    return spec.layers * sum(mix.nbytes(*shape) for shape in shapes)


def _product(weights: Checkpoint, name: str, bias: str | None, mix: ExportMix) -> Method:
    parts, weight = ProgramParts(), weights.load(name)
    matrix = parts.matrix(weight, None if bias is None else weights.load(bias), mix)

    def compute(x: Tensor) -> tuple[Tensor, ...]:
        return (matrix(x),)

    return Method(parts.module(compute), (tensor(np.ones((1, weight.shape[1]), np.float32)),))


def _layers(
    weights: Checkpoint, prefix: str, spec: DecoderSpec, mix: ExportMix, room: int | None
) -> Method:
    """room: of the memory; None where it may be any."""
    parts = ProgramParts()
    stack = ExportedStack(parts, weights, prefix, spec, mix)
    return Method(stack.module(parts), *stack.example(room))


@dataclass(frozen=True, slots=True)
class _Layer:
    attention_norm: Product
    query: Product
    key: Product
    value: Product
    out: Product
    query_norm: Product
    key_norm: Product
    mlp_norm: Product
    gate: Product
    up: Product
    down: Product


class ExportedStack:
    """The layers and the final norm.

    Inputs: rows float32 [n, hidden]; ``cosine`` and ``sine`` [n, 1, head_dim] of their positions;
    masks [sharing * n, room] and [sharing * n, n], added to the scores of what came before and of
    the new rows; for each layer keys [kv heads, head_dim, room] and values [kv heads, room,
    head_dim]. Outputs: normed rows [n, hidden]; for each layer keys and values [kv heads, n,
    head_dim] of the new rows, the keys turned.
    """

    def __init__(
        self,
        parts: ProgramParts,
        weights: Checkpoint,
        prefix: str,
        spec: DecoderSpec,
        mix: ExportMix,
    ) -> None:
        self._spec = spec
        self._shape = HeadShape(spec.heads, spec.kv_heads, spec.head_dim)
        self._swap = parts.matrix(swap_matrix(spec.head_dim))
        self._layers = [
            _layer(parts, weights, f"{prefix}.layers.{at}", spec, mix) for at in range(spec.layers)
        ]
        norm = weights.load(f"{prefix}.norm.weight")
        self._norm = parts.norm(spec.hidden, spec.rms_norm_eps, norm)

    def module(self, parts: ProgramParts) -> Module:
        """What is exported."""
        return parts.module(self._compute)

    def example(self, room: int | None) -> tuple[tuple[Tensor, ...], tuple[Sizes, ...]]:
        """Inputs to trace with, and which sizes of each are free."""
        from torch.export import Dim

        spec, sharing = self._spec, self._shape.sharing
        size = room or _ROOM

        def zeros(*shape: int) -> Tensor:
            return tensor(np.zeros(shape, np.float32))

        inputs = [
            zeros(_ROWS, spec.hidden), zeros(_ROWS, 1, spec.head_dim),
            zeros(_ROWS, 1, spec.head_dim), zeros(sharing * _ROWS, size),
            zeros(sharing * _ROWS, _ROWS),
        ]  # fmt: skip
        rows = Dim("rows", min=2, max=MOST_ROWS)
        shared = rows if sharing == 1 else sharing * rows
        before: Sizes = {} if room else {1: Dim("room", min=2, max=MOST_ROOM)}
        free: list[Sizes] = [{0: rows}, {0: rows}, {0: rows}, {0: shared, **before}]
        free.append({0: shared, 1: rows})
        for _ in range(spec.layers):
            inputs += [
                zeros(spec.kv_heads, spec.head_dim, size), zeros(spec.kv_heads, size, spec.head_dim)
            ]  # fmt: skip
            free += [{axis + 1: dim for axis, dim in before.items()}, before]
        return tuple(inputs), tuple(free)

    def _compute(
        self, x: Tensor, cosine: Tensor, sine: Tensor, before: Tensor, new: Tensor, *caches: Tensor
    ) -> tuple[Tensor, ...]:
        import torch

        turn, mask = Rotation(cosine, sine, self._swap), torch.cat([before, new], -1)
        made: list[Tensor] = []
        for at, layer in enumerate(self._layers):
            past = Past(caches[2 * at], caches[2 * at + 1], mask)
            mixed, key, value = self._attend(layer, layer.attention_norm(x), turn, past)
            x = x + layer.out(mixed)
            normed = layer.mlp_norm(x)
            gate = layer.gate(normed)
            x = x + layer.down(gate * torch.sigmoid(gate) * layer.up(normed))
            made += [key, value]
        return self._norm(x), *made

    def _attend(
        self, layer: _Layer, normed: Tensor, turn: Rotation, past: Past
    ) -> tuple[Tensor, Tensor, Tensor]:
        shape = self._shape
        query = layer.query_norm(layer.query(normed).view(-1, shape.heads, shape.width))
        key = layer.key_norm(layer.key(normed).view(-1, shape.kv_heads, shape.width))
        value = layer.value(normed).view(-1, shape.kv_heads, shape.width)
        return attend(shape, turn(query), turn(key), value, past)


def _layer(
    parts: ProgramParts, weights: Checkpoint, name: str, spec: DecoderSpec, mix: ExportMix
) -> _Layer:
    def matrix(part: str) -> Product:
        return parts.matrix(weights.load(f"{name}.{part}.weight"), None, mix)

    def norm(part: str, width: int, scale: float = 1) -> Product:
        weight = weights.load(f"{name}.{part}.weight") * np.float32(scale)
        return parts.norm(width, spec.rms_norm_eps, weight)

    return _Layer(
        attention_norm=norm("input_layernorm", spec.hidden),
        query=matrix("self_attn.q_proj"),
        key=matrix("self_attn.k_proj"),
        value=matrix("self_attn.v_proj"),
        out=matrix("self_attn.o_proj"),
        # The scale of the scores is in the norm of the queries.
        query_norm=norm("self_attn.q_norm", spec.head_dim, spec.head_dim**-0.5),
        key_norm=norm("self_attn.k_norm", spec.head_dim),
        mlp_norm=norm("post_attention_layernorm", spec.hidden),
        gate=matrix("mlp.gate_proj"),
        up=matrix("mlp.up_proj"),
        down=matrix("mlp.down_proj"),
    )
