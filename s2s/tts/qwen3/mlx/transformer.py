"""A stack of Qwen3 layers on MLX: vectors in, normed vectors out. Knows nothing of what it is for.

Everything here runs in the one thread that computes with MLX (docs/decisions/mlx-thread.md), and is
lazy: nothing is computed before an array is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.checkpoint.affine import GROUP, WORD_BITS
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec

if TYPE_CHECKING:
    from mlx.core import Dtype, array

Product = Callable[["array"], "array"]
"""A matrix: [..., in] to [..., out]."""
Caches = list[tuple["array", "array"]]
"""Keys after rotation and values of each layer: [1, kv heads, room, head_dim]."""


def to_mlx(values: npt.NDArray[np.generic]) -> array:
    """An array of MLX's own memory; uint16 is bfloat16 by its bits."""
    import mlx.core as mx

    made = mx.array(np.ascontiguousarray(values))
    return made.view(mx.bfloat16) if values.dtype == np.uint16 else made


class MlxFile:
    """Tensors of one converted decoder, as MLX multiplies with them.

    ``wide``: all is computed in float32, and bfloat16 is widened for that (a quantised matrix stays
    what it is); else in what is stored.
    """

    def __init__(self, weights: Checkpoint, *, wide: bool) -> None:
        self._weights = weights
        self._wide = wide
        self.made: list[array] = []
        """Every array that was given out, to be computed at once."""

    def vector(self, name: str) -> array:
        """A tensor, in what is computed in; whole numbers as they are."""
        import mlx.core as mx

        made = to_mlx(self._weights.stored(name))
        if self._wide and made.dtype == mx.bfloat16:
            made = made.astype(mx.float32)
        self.made.append(made)
        return made

    def matrix(self, name: str) -> Product:
        """``name`` without its ``.weight``: [out, in], quantised or not."""
        import mlx.core as mx

        weight = self.vector(f"{name}.weight")
        if self._weights.dtype(f"{name}.weight") != "U32":
            turned = weight.T
            return lambda x: x @ turned
        scales, biases = self.vector(f"{name}.scales"), self.vector(f"{name}.biases")
        bits = weight.shape[1] * WORD_BITS // (scales.shape[1] * GROUP)

        def product(x: array) -> array:
            return mx.quantized_matmul(
                x, weight, scales, biases, transpose=True, group_size=GROUP, bits=bits
            )

        return product


@dataclass(frozen=True, slots=True)
class MlxLayer:
    """One decoder layer."""

    attention_norm: array
    query: Product
    key: Product
    value: Product
    out: Product
    query_norm: array
    key_norm: array
    mlp_norm: array
    gate: Product
    up: Product
    down: Product


class MlxStack:
    """The layers and the final norm."""

    def __init__(self, file: MlxFile, prefix: str, spec: DecoderSpec) -> None:
        self._spec = spec
        self._layers = [_layer(file, f"{prefix}.layers.{at}") for at in range(spec.layers)]
        self._norm = file.vector(f"{prefix}.norm.weight")

    @property
    def dtype(self) -> Dtype:
        """What it computes in."""
        return self._norm.dtype

    def new_caches(self, room: int) -> Caches:
        """Zeros for ``room`` positions."""
        import mlx.core as mx

        spec = self._spec
        shape = (1, spec.kv_heads, room, spec.head_dim)
        return [
            (mx.zeros(shape, self.dtype), mx.zeros(shape, self.dtype)) for _ in range(spec.layers)
        ]

    def grown(self, caches: Caches, room: int) -> Caches:
        """The same positions with room for more."""
        import mlx.core as mx

        def more(old: array) -> array:
            wide = mx.zeros((*old.shape[:2], room - old.shape[2], old.shape[3]), old.dtype)
            return mx.concatenate([old, wide], axis=2)

        return [(more(keys), more(values)) for keys, values in caches]

    def __call__(self, x: array, caches: Caches, start: int) -> tuple[array, Caches]:
        """Positions from ``start`` on: x [n, hidden]. Returns the normed rows [n, hidden] and the
        caches with them; those that were given stay as they are."""
        import mlx.core as mx

        eps, x = self._spec.rms_norm_eps, x.astype(self.dtype)[None]
        after: Caches = []
        for layer, cache in zip(self._layers, caches, strict=True):
            normed = mx.fast.rms_norm(x, layer.attention_norm, eps)
            mixed, cache = self._attend(layer, normed, cache, start)
            after.append(cache)
            x = x + mixed
            normed = mx.fast.rms_norm(x, layer.mlp_norm, eps)
            gate = layer.gate(normed)
            x = x + layer.down(gate * mx.sigmoid(gate) * layer.up(normed))
        return mx.fast.rms_norm(x, self._norm, eps)[0], after

    def _attend(
        self, layer: MlxLayer, normed: array, cache: tuple[array, array], start: int
    ) -> tuple[array, tuple[array, array]]:
        import mlx.core as mx

        spec, count = self._spec, normed.shape[1]
        stop, at = start + count, mx.array([start])

        def heads(x: array, number: int) -> array:
            return x.reshape(1, count, number, spec.head_dim)

        def turned(x: array, norm: array) -> array:
            by_head = mx.fast.rms_norm(x, norm, spec.rms_norm_eps).transpose(0, 2, 1, 3)
            return mx.fast.rope(
                by_head,
                spec.head_dim,
                traditional=False,
                base=spec.rope_theta,
                scale=1.0,
                offset=start,
            )

        query = turned(heads(layer.query(normed), spec.heads), layer.query_norm)
        key = turned(heads(layer.key(normed), spec.kv_heads), layer.key_norm)
        value = heads(layer.value(normed), spec.kv_heads).transpose(0, 2, 1, 3)
        keys = mx.slice_update(cache[0], key, at, axes=(2,))
        values = mx.slice_update(cache[1], value, at, axes=(2,))
        mixed = mx.fast.scaled_dot_product_attention(
            query,
            keys[:, :, :stop],
            values[:, :, :stop],
            scale=spec.head_dim**-0.5,
            mask="causal" if count > 1 else None,
        )
        return layer.out(mixed.transpose(0, 2, 1, 3).reshape(1, count, -1)), (keys, values)


def _layer(file: MlxFile, name: str) -> MlxLayer:
    return MlxLayer(
        attention_norm=file.vector(f"{name}.input_layernorm.weight"),
        query=file.matrix(f"{name}.self_attn.q_proj"),
        key=file.matrix(f"{name}.self_attn.k_proj"),
        value=file.matrix(f"{name}.self_attn.v_proj"),
        out=file.matrix(f"{name}.self_attn.o_proj"),
        query_norm=file.vector(f"{name}.self_attn.q_norm.weight"),
        key_norm=file.vector(f"{name}.self_attn.k_norm.weight"),
        mlp_norm=file.vector(f"{name}.post_attention_layernorm.weight"),
        gate=file.matrix(f"{name}.mlp.gate_proj"),
        up=file.matrix(f"{name}.mlp.up_proj"),
        down=file.matrix(f"{name}.mlp.down_proj"),
    )
