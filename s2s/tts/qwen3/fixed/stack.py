"""A stack of Qwen3 layers in operators of fixed shapes.

Keys are kept transposed, [kv heads, head_dim, slots], values [kv heads, slots, head_dim]: no step
turns what was said before. A layer computes with pieces of them side by side, such as a cache and
what is new, so that nothing of a cache is copied. Knows nothing of what the stack is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.tts.qwen3.checkpoint.spec import DecoderSpec
from s2s.tts.qwen3.fixed.operators import (
    FixedMatrices,
    part,
    reshape,
    rms_norm,
    rotate,
    side_by_side,
    silu,
)
from s2s.tts.qwen3.onnx.transformer import Rows


@dataclass(frozen=True, slots=True)
class KeysValues:
    """Keys [kv heads, head_dim, slots] and values [kv heads, slots, head_dim] of a layer."""

    key: str
    value: str
    slots: int


@dataclass(frozen=True, slots=True)
class RowPlaces:
    """Where the rows of a run stand: how many, the rotary angles cos and sin [rows, 1, half], and
    what is added to their scores, [rows, slots]; None where all is seen."""

    rows: int
    cos: str
    sin: str
    mask: str | None


class FixedStack:
    """Layers and the final norm, for any number of runs in one graph."""

    def __init__(
        self, matrices: FixedMatrices, name: str, spec: DecoderSpec, *, joined: bool
    ) -> None:
        """joined: each layer's keys and values are put together with what was before them, to be
        passed on; else what is new stays apart."""
        self._matrices = matrices
        self._graph = matrices.graph
        self._name = name
        self._spec = spec
        self._joined = joined

    def run(
        self, rows: str, places: RowPlaces, past: Sequence[KeysValues | None]
    ) -> tuple[str, list[KeysValues]]:
        """rows [n, hidden] to normed rows of that shape, and of each layer the new keys and values
        (joined: all of them)."""
        graph, spec, after = self._graph, self._spec, list[KeysValues]()
        for layer, before in enumerate(past):
            prefix = f"layers.{layer}"
            normed = self._norm(rows, f"{prefix}.input_layernorm")
            mixed, kept = self._attention(normed, f"{prefix}.self_attn", places, before)
            after.append(kept)
            added = self._times(mixed, (f"{prefix}.self_attn.o_proj", spec.hidden))
            rows = graph.op("Add", rows, added)
            normed = self._norm(rows, f"{prefix}.post_attention_layernorm")
            rows = graph.op("Add", rows, self._gated(normed, f"{prefix}.mlp"))
        return self._norm(rows, "norm"), after

    def _attention(
        self, normed: str, prefix: str, places: RowPlaces, before: KeysValues | None
    ) -> tuple[str, KeysValues]:
        """[n, heads * head_dim], and what is kept."""
        graph, spec, n = self._graph, self._spec, places.rows
        width, narrow = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
        sizes = {"q": width, "k": narrow, "v": narrow}
        joined = self._times(normed, *((f"{prefix}.{p}_proj", s) for p, s in sizes.items()))
        query, key, value = graph.split(joined, tuple(sizes.values()), axis=1)
        query = self._heads(query, spec.heads, f"{prefix}.q_norm", places)
        key = self._heads(key, spec.kv_heads, f"{prefix}.k_norm", places)
        value = reshape(graph, value, n, spec.kv_heads, spec.head_dim)
        new = KeysValues(
            graph.op("Transpose", key, perm=(1, 2, 0)),
            graph.op("Transpose", value, perm=(1, 0, 2)),
            n,
        )
        pieces = [new] if before is None else [before, new]
        if self._joined:
            new = KeysValues(
                side_by_side(graph, [piece.key for piece in pieces], 2),
                side_by_side(graph, [piece.value for piece in pieces], 1),
                sum(piece.slots for piece in pieces),
            )
            pieces = [new]
        return self._mix(self._grouped(query, n), pieces, places), new

    def _heads(self, value: str, heads: int, norm: str, places: RowPlaces) -> str:
        """Normed and turned: [n, heads, head_dim]."""
        graph, spec = self._graph, self._spec
        value = reshape(graph, value, places.rows, heads, spec.head_dim)
        return rotate(graph, self._norm(value, norm), spec.head_dim // 2, places.cos, places.sin)

    def _grouped(self, query: str, n: int) -> str:
        """Queries beside the keys they share: [kv heads, shared * n, head_dim]."""
        graph, spec = self._graph, self._spec
        shared = spec.heads // spec.kv_heads
        if n > 1:
            query = graph.op("Transpose", query, perm=(1, 0, 2))
        return reshape(graph, query, spec.kv_heads, shared * n, spec.head_dim)

    def _mix(self, query: str, pieces: Sequence[KeysValues], places: RowPlaces) -> str:
        """What is seen of the values: [n, heads * head_dim]."""
        graph, spec, n = self._graph, self._spec, places.rows
        scaled = graph.op("Mul", query, graph.floats(spec.head_dim**-0.5))
        scores = side_by_side(graph, [graph.op("MatMul", scaled, piece.key) for piece in pieces], 2)
        if places.mask is not None:
            shared = spec.heads // spec.kv_heads
            scores = graph.op("Add", scores, side_by_side(graph, [places.mask] * shared, 0))
        seen = graph.op("Softmax", scores, axis=-1)
        mixed, at = "", 0
        for piece in pieces:
            some = seen if len(pieces) == 1 else part(graph, seen, 2, at, at + piece.slots)
            found = graph.op("MatMul", some, piece.value)
            mixed = graph.op("Add", mixed, found) if mixed else found
            at += piece.slots
        if n > 1:
            mixed = reshape(graph, mixed, spec.heads, n, spec.head_dim)
            mixed = graph.op("Transpose", mixed, perm=(1, 0, 2))
        return reshape(graph, mixed, n, spec.heads * spec.head_dim)

    def _gated(self, normed: str, prefix: str) -> str:
        graph, inner = self._graph, self._spec.intermediate
        both = self._times(normed, (f"{prefix}.gate_proj", inner), (f"{prefix}.up_proj", inner))
        gate, up = graph.split(both, (inner, inner), axis=1)
        gated = graph.op("Mul", silu(graph, gate), up)
        return self._times(gated, (f"{prefix}.down_proj", self._spec.hidden))

    def _norm(self, value: str, name: str) -> str:
        weight = self._matrices.vector(f"{self._name}.{name}.weight")
        return rms_norm(self._graph, value, self._spec.rms_norm_eps, weight)

    def _times(self, value: str, *parts: tuple[str, int]) -> str:
        """Several matrices in one product, their results side by side."""
        rows = [Rows(f"{self._name}.{name}.weight", 0, count) for name, count in parts]
        return self._matrices.times(value, *rows)
