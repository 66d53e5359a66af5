"""A stack of Qwen3 layers as MNN's converter takes it: the operators of `fixed.stack`, but any
number of rows and of slots in one graph, as MNN plans a graph anew for each shape it is given.

A graph of its own for each shape would hold its own copy of the weights
(docs/decisions/qwen3-mnn-core.md). Knows nothing of what the stack is for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec
from s2s.tts.qwen3.fixed.operators import FixedMatrices, reshape, side_by_side
from s2s.tts.qwen3.fixed.stack import FixedStack, KeysValues, RowPlaces

ANY = -1
"""Instead of a number of rows or slots: as many as there are."""
NEW = "new."
"""What the names of a layer's new keys and values begin with."""


class MnnStack(FixedStack):
    """Layers and the final norm. Each run is given caches, and gives what is new of them."""

    def __init__(self, matrices: FixedMatrices, name: str, spec: DecoderSpec) -> None:
        super().__init__(matrices, name, spec, joined=False)

    def _grouped(self, query: str, n: int) -> str:
        graph, spec = self._graph, self._spec
        query = graph.op("Transpose", query, perm=(1, 0, 2))
        return reshape(graph, query, spec.kv_heads, ANY, spec.head_dim)

    def _mix(self, query: str, pieces: Sequence[KeysValues], places: RowPlaces) -> str:
        graph, spec = self._graph, self._spec
        past, new = pieces
        scaled = graph.op("Mul", query, graph.floats(spec.head_dim**-0.5))
        scores = side_by_side(
            graph, [graph.op("MatMul", scaled, each.key) for each in (past, new)], 2
        )
        if places.mask is not None:
            shared = spec.heads // spec.kv_heads
            scores = graph.op("Add", scores, side_by_side(graph, [places.mask] * shared, 0))
        seen = graph.op("Softmax", scores, axis=-1)
        zero, two = graph.ints(0), graph.ints(2)
        slots = graph.op("Shape", past.value, start=1, end=2)
        last = graph.constant(np.array([np.iinfo(np.int32).max], np.int64))
        mixed = graph.op(
            "Add",
            graph.op("MatMul", graph.op("Slice", seen, zero, slots, two), past.value),
            graph.op("MatMul", graph.op("Slice", seen, slots, last, two), new.value),
        )
        mixed = reshape(graph, mixed, spec.heads, ANY, spec.head_dim)
        mixed = graph.op("Transpose", mixed, perm=(1, 0, 2))
        return reshape(graph, mixed, ANY, spec.heads * spec.head_dim)


def add_stack(graph: GraphBuilder, matrices: FixedMatrices, name: str, spec: DecoderSpec) -> str:
    """Add a stack with its inputs and cache outputs; returns the normed rows [n, hidden].

    Inputs: ``vectors`` float32 [n, hidden]; ``cos`` and ``sin`` [n, head_dim / 2]; ``mask``
    [n, slots + n], 0 for what each row sees; ``key.L`` [kv heads, head_dim, slots] and ``value.L``
    [kv heads, slots, head_dim]. Outputs: ``new.key.L`` and ``new.value.L`` with n slots.
    """
    half = spec.head_dim // 2
    rows = graph.input("vectors", np.float32, ("n", spec.hidden))
    cos, sin = (graph.input(each, np.float32, ("n", half)) for each in ("cos", "sin"))
    mask = graph.input("mask", np.float32, ("n", "seen"))
    places = RowPlaces(
        ANY, reshape(graph, cos, ANY, 1, half), reshape(graph, sin, ANY, 1, half), mask
    )
    past = [
        KeysValues(
            graph.input(f"key.{at}", np.float32, (spec.kv_heads, spec.head_dim, "slots")),
            graph.input(f"value.{at}", np.float32, (spec.kv_heads, "slots", spec.head_dim)),
            ANY,
        )
        for at in range(spec.layers)
    ]
    rows, after = MnnStack(matrices, name, spec).run(rows, places, past)
    for at, kept in enumerate(after):
        shapes = (spec.kv_heads, spec.head_dim, "n"), (spec.kv_heads, "n", spec.head_dim)
        graph.output(f"{NEW}key.{at}", kept.key, np.float32, shapes[0])
        graph.output(f"{NEW}value.{at}", kept.value, np.float32, shapes[1])
    return rows
