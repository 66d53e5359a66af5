"""The talker's graphs: so many positions appended to caches of a fixed number of slots.

Inputs: ``vectors`` float32 [n, H]; ``cos`` and ``sin`` [n, head_dim / 2], the rotary angles of the
positions; ``mask`` [n, slots + n], 0 for what each row sees and `operators.MASKED` for what not;
with more than one row ``last`` int32 [1], the row that is asked about; of each layer ``key.L``
[kv heads, head_dim, slots] and ``value.L`` [kv heads, slots, head_dim]. Outputs: ``hidden`` [1, H]
and ``logits`` [1, codes + 1], every code and the end of speech behind them; ``new.key.L`` and
``new.value.L`` with n slots, which whoever runs the graph writes where they belong.
"""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.fixed.operators import FixedMatrices, MakeMatrices, reshape
from s2s.tts.qwen3.fixed.stack import FixedStack, KeysValues, RowPlaces
from s2s.tts.qwen3.onnx.transformer import Job, Rows
from s2s.tts.qwen3.reference import TALKER_NAME

FIXED_GRAPHS_VERSION = 1
"""Of the language model's graphs together; another number is refused."""

CAPACITIES = (512, 1024, 2048, 4096)
"""Slots of the talker's caches, of which a state takes the fewest that are enough: each is read
whole at each step, whatever is filled of it: docs/decisions/qwen3-fixed-shapes.md. The last is more
than five minutes of sound."""
BLOCK = 16
"""Positions of a prompt that are appended at once."""
KEY, VALUE, NEW = "key", "value", "new."
"""Of a layer's cache inputs, with its number behind a dot, and what its outputs begin with."""


def talker_graph_name(slots: int, positions: int) -> str:
    """Of a graph's file, without its ending."""
    return f"talker-{slots}-{positions}"


def capacities(spec: Spec) -> tuple[int, ...]:
    """The numbers of slots that a talker has graphs for: up to the first that is enough for all
    the positions it was made for."""
    enough = bisect_left(CAPACITIES, spec.talker.max_positions)
    return CAPACITIES[: enough + 1]


def build_talker(job: Job, matrices: MakeMatrices = FixedMatrices) -> Path:
    """Write a graph for each number of slots, for one position and for a block; returns the path
    of the first."""
    paths = [
        build_talker_graph(job, slots, positions, matrices)
        for slots in capacities(job.spec)
        for positions in (1, BLOCK)
    ]
    return paths[0]


def build_talker_graph(
    job: Job, slots: int, positions: int, make: MakeMatrices = FixedMatrices
) -> Path:
    """Write one of them, and what weights of it no other graph of the folder has stored."""
    spec = job.spec
    with GraphBuilder(job.folder, talker_graph_name(slots, positions)) as graph:
        matrices = make(graph, job)
        stack = FixedStack(matrices, TALKER_NAME, spec.talker, joined=False)
        rows, after = stack.run(*stack_inputs(graph, spec.talker, positions, slots))
        if positions > 1:
            rows = graph.op("Gather", rows, graph.input("last", np.int32, (1,)), axis=0)
        graph.output("hidden", rows, np.float32, (1, spec.talker.hidden))
        head = "talker.codec_head.weight"
        parts = Rows(head, 0, spec.codes), Rows(head, spec.ids.eos, spec.ids.eos + 1)
        graph.output("logits", matrices.times(rows, *parts), np.float32, (1, spec.codes + 1))
        stack_outputs(graph, spec.talker, after)
        return save_fixed(graph, job)


def stack_inputs(
    graph: GraphBuilder, spec: DecoderSpec, n: int, slots: int
) -> tuple[str, RowPlaces, list[KeysValues]]:
    """Declare what a stack with caches computes from: rows, where they stand, and the caches."""
    half = spec.head_dim // 2
    rows = graph.input("vectors", np.float32, (n, spec.hidden))
    cos, sin = (graph.input(name, np.float32, (n, half)) for name in ("cos", "sin"))
    mask = graph.input("mask", np.float32, (n, slots + n))
    places = RowPlaces(n, reshape(graph, cos, n, 1, half), reshape(graph, sin, n, 1, half), mask)
    shapes = cache_shapes(spec, slots)
    names = [graph.input(name, np.float32, shape) for name, shape in shapes.items()]
    pairs = zip(names[::2], names[1::2], strict=True)
    return rows, places, [KeysValues(key, value, slots) for key, value in pairs]


def stack_outputs(graph: GraphBuilder, spec: DecoderSpec, after: list[KeysValues]) -> None:
    """Declare what is new of each layer's keys and values."""
    names = [name for kept in after for name in (kept.key, kept.value)]
    shapes = cache_shapes(spec, after[0].slots)
    for (name, shape), value in zip(shapes.items(), names, strict=True):
        graph.output(NEW + name, value, np.float32, shape)


def cache_shapes(spec: DecoderSpec, slots: int) -> dict[str, tuple[int, int, int]]:
    """Of a stack's caches by their names, each layer's keys before its values."""
    shapes: dict[str, tuple[int, int, int]] = {}
    for layer in range(spec.layers):
        shapes[f"{KEY}.{layer}"] = (spec.kv_heads, spec.head_dim, slots)
        shapes[f"{VALUE}.{layer}"] = (spec.kv_heads, slots, spec.head_dim)
    return shapes


def save_fixed(graph: GraphBuilder, job: Job) -> Path:
    """Finish a graph of the language model."""
    return graph.save(job.marks | {"version": str(FIXED_GRAPHS_VERSION), "quant": job.mix.name})
