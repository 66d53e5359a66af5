"""The code predictor's graphs: all passes of a frame in one, and what a frame takes pass by pass.

``frame``: inputs ``hidden`` float32 [1, H], the talker's; ``first`` [1, width], the first code's
vector as the predictor is fed it; ``temperature`` [1]; ``top_k`` int32 [1], from 1 to the number of
codes; ``noise`` [G - 1, B], added to the logits that survive: Gumbel noise to sample. Output:
``codes`` int32 [G - 1].

``predictor`` appends one position to caches of G + 1 slots: inputs and outputs as the talker's of
one position, without ``logits``. ``heads``: ``vector`` [1, width] and ``group`` int32 [1] to
``logits`` [1, B]. Where the talker is wider, ``projection``: ``vector`` [1, H] to ``projected``
[1, width].
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.fixed.operators import (
    MASKED,
    FixedMatrices,
    MakeMatrices,
    part,
    reshape,
    side_by_side,
)
from s2s.tts.qwen3.fixed.stack import FixedStack, KeysValues, RowPlaces
from s2s.tts.qwen3.fixed.talker_graph import save_fixed, stack_inputs, stack_outputs
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.onnx.language_graph import code_rows
from s2s.tts.qwen3.onnx.session import rope
from s2s.tts.qwen3.onnx.transformer import Job, Rows
from s2s.tts.qwen3.reference import PREDICTOR_NAME

FRAME_GRAPH, PREDICTOR_GRAPH, HEADS_GRAPH = "frame", "predictor", "heads"
PROJECTION_GRAPH = "projection"

_PREFIX = "talker.code_predictor"
_NARROW = f"{_PREFIX}.small_to_mtp_projection"
_LOWEST = float(np.finfo(np.float32).min)


def predictor_slots(spec: Spec) -> int:
    """Slots of the predictor's caches: one more than positions. With as many an accelerator's
    runner lost the first one (seed 004, section 8)."""
    return spec.groups + 1


def build_predictor(job: Job, matrices: MakeMatrices = FixedMatrices) -> Path:
    """Write the graphs; returns the path of the whole frame's."""
    path = build_frame(job, matrices)
    build_passes(job, matrices)
    return path


def build_frame(job: Job, make: MakeMatrices = FixedMatrices) -> Path:
    """Write the graph of a whole frame."""
    spec, codes = job.spec, job.spec.codes
    width, passes = spec.predictor.hidden, spec.groups - 1
    with GraphBuilder(job.folder, FRAME_GRAPH) as graph:
        matrices = make(graph, job)
        hidden = graph.input("hidden", np.float32, (1, spec.talker.hidden))
        first = graph.input("first", np.float32, (1, width))
        chosen = _Choice(graph, spec)
        vectors = code_rows(job).astype(np.float32, copy=False)
        table = graph.bulk(vectors.reshape(-1, width))
        job.advance(vectors.nbytes)
        stack = FixedStack(matrices, PREDICTOR_NAME, spec.predictor, joined=True)
        rows = side_by_side(graph, [_narrowed(graph, matrices, hidden, spec), first], 0)
        kept: list[KeysValues | None] = [None] * spec.predictor.layers
        found: list[str] = []
        for group in range(passes):
            places = _places(graph, spec, range(2) if not group else range(group + 1, group + 2))
            normed, after = stack.run(rows, places, kept)
            kept = list(after)
            last = part(graph, normed, 0, 1, 2) if places.rows == 2 else normed
            logits = matrices.times(last, _head(spec, group))
            found.append(chosen.code(logits, group))
            if group < passes - 1:
                row = graph.op("Add", found[-1], graph.constant(_int32(group * codes)))
                rows = graph.op("Gather", table, row, axis=0)
        graph.output("codes", side_by_side(graph, found, 0), np.int32, (passes,))
        return save_fixed(graph, job)


def build_passes(job: Job, make: MakeMatrices = FixedMatrices) -> Path:
    """Write what a frame takes pass by pass; returns the path of the stack's graph. Its heads are
    float32 however the matrices are kept: which one is multiplied with is an input."""
    spec = job.spec
    slots = predictor_slots(spec)
    with GraphBuilder(job.folder, PREDICTOR_GRAPH) as graph:
        stack = FixedStack(make(graph, job), PREDICTOR_NAME, spec.predictor, joined=False)
        rows, after = stack.run(*stack_inputs(graph, spec.predictor, 1, slots))
        graph.output("hidden", rows, np.float32, (1, spec.predictor.hidden))
        stack_outputs(graph, spec.predictor, after)
        path = save_fixed(graph, job)
    _build_heads(job)
    if spec.projected:
        with GraphBuilder(job.folder, PROJECTION_GRAPH) as graph:
            vector = graph.input("vector", np.float32, (1, spec.talker.hidden))
            narrow = _narrowed(graph, make(graph, job), vector, spec)
            graph.output("projected", narrow, np.float32, (1, spec.predictor.hidden))
            save_fixed(graph, job)
    return path


def head_names(spec: Spec) -> list[str]:
    """The heads' names in the checkpoint, by group."""
    return [f"{_PREFIX}.lm_head.{group}.weight" for group in range(spec.groups - 1)]


def _build_heads(job: Job) -> None:
    spec, names = job.spec, head_names(job.spec)
    width = spec.predictor.hidden
    heads = np.empty((len(names), width, spec.codes), np.float32)
    for head, name in zip(heads, names, strict=True):
        head[:] = job.weights.rows(name, 0, spec.codes).T
    with GraphBuilder(job.folder, HEADS_GRAPH) as graph:
        vector = graph.input("vector", np.float32, (1, width))
        group = graph.input("group", np.int32, (1,))
        found = graph.op("Gather", graph.bulk(heads), group, axis=0)
        found = reshape(graph, found, width, spec.codes)
        logits = graph.op("MatMul", vector, found)
        graph.output("logits", logits, np.float32, (1, spec.codes))
        save_fixed(graph, job)
    job.advance(heads.nbytes)


class _Choice:
    """Takes a code of logits, as `sampling` does with top-k and without top-p."""

    def __init__(self, graph: GraphBuilder, spec: Spec) -> None:
        self._graph = graph
        self._codes = spec.codes
        temperature = graph.input("temperature", np.float32, (1,))
        top_k = graph.input("top_k", np.int32, (1,))
        self._noise = graph.input("noise", np.float32, (spec.groups - 1, spec.codes))
        self._temperature = temperature
        self._worst = graph.op("Sub", top_k, graph.constant(_int32(1)))

    def code(self, logits: str, group: int) -> str:
        """logits [1, B] to a code, int32 [1]. All are sorted: how many survive is no shape then."""
        graph = self._graph
        logits = graph.op("Div", logits, self._temperature)
        ordered, _ = graph.several("TopK", (logits, graph.ints(self._codes)), 2)
        threshold = graph.op("Gather", ordered, self._worst, axis=1)
        noisy = graph.op("Add", logits, part(graph, self._noise, 0, group, group + 1))
        kept = graph.op("GreaterOrEqual", logits, threshold)
        noisy = graph.op("Where", kept, noisy, graph.floats(_LOWEST))
        best = graph.op("ArgMax", noisy, axis=1, keepdims=0)
        return graph.op("Cast", best, to=_INT32_TYPE)


_INT32_TYPE = 6  # onnx.TensorProto.DataType


def _places(graph: GraphBuilder, spec: Spec, positions: range) -> RowPlaces:
    """Constants of some positions of a frame, which see themselves and all before."""
    n, half = len(positions), spec.predictor.head_dim // 2
    angles = rope(spec.groups, spec.predictor)

    def picked(table: Floats) -> str:
        return graph.constant(table[positions.start : positions.stop].reshape(n, 1, half))

    mask = None
    if n > 1:
        mask = graph.constant(np.triu(np.full((n, n), MASKED, np.float32), 1))
    return RowPlaces(n, picked(angles["cos"]), picked(angles["sin"]), mask)


def _narrowed(graph: GraphBuilder, matrices: FixedMatrices, hidden: str, spec: Spec) -> str:
    """The talker's hidden vector as the predictor is fed it: [1, width]."""
    if not spec.projected:
        return hidden
    narrow = matrices.times(hidden, Rows(f"{_NARROW}.weight", 0, spec.predictor.hidden))
    return graph.op("Add", narrow, matrices.vector(f"{_NARROW}.bias"))


def _head(spec: Spec, group: int) -> Rows:
    return Rows(head_names(spec)[group], 0, spec.codes)


def _int32(value: int) -> np.ndarray:
    return np.array([value], np.int32)
