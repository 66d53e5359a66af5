"""The graphs of talker and code predictor for ONNX Runtime, straight from a checkpoint's tensors.

``talker`` and ``predictor`` are stacks of Qwen3 layers that append positions to key/value caches
of fixed room, in place: the attention operator writes into the memory its cache inputs share with
its cache outputs. ``heads`` holds the code predictor's heads, of which a run computes one;
``projection`` narrows the talker's hidden vector for it. ``frame`` is all passes of a frame in one
run, on the same stored weights (docs/decisions/qwen3-onnx-frame-as-a-loop.md). Knows nothing of
running them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.onnx.quant import BLOCK_MIXES, BlockMix
from s2s.tts.qwen3.onnx.transformer import CachePosition, Job, Rows, Stack, product, stack_bytes
from s2s.tts.qwen3.reference import PREDICTOR_NAME, TALKER_NAME

TALKER_GRAPH, PREDICTOR_GRAPH = "talker", "predictor"
HEADS_GRAPH, PROJECTION_GRAPH, FRAME_GRAPH = "heads", "projection", "frame"
LANGUAGE_GRAPHS_VERSION = 2
"""Of these graphs together; another number is refused."""

_PREDICTOR = "talker.code_predictor"
_END = np.iinfo(np.int64).max
_INT32, _FLOAT32 = 6, 1  # onnx.TensorProto.DataType


def build_talker(job: Job) -> Path:
    """Write ``talker.onnx`` and its data; returns the graph's path.

    Inputs: see `Stack`. Outputs: ``hidden`` float32 [1, 1, H] of the last position, ``logits``
    float32 [1, 1, codes + 1]: every code, and the end of speech behind them.
    """
    spec = job.spec
    name = "talker.codec_head.weight"
    head = [Rows(name, 0, spec.codes), Rows(name, spec.ids.eos, spec.ids.eos + 1)]
    with GraphBuilder(job.folder, TALKER_GRAPH) as graph:
        rows = Stack(graph, job, TALKER_NAME, spec.talker).declare()
        last = graph.op("Slice", rows, graph.ints(-1), graph.ints(_END), graph.ints(1))
        graph.output("hidden", last, np.float32, (1, 1, spec.talker.hidden))
        logits = product(graph, job, last, head, _head_mix(job.mix))
        graph.output("logits", logits, np.float32, (1, 1, spec.codes + 1))
        return _save(graph, job)


def build_predictor(job: Job) -> Path:
    """Write ``predictor.onnx``, ``heads.onnx``, ``frame.onnx``, where it is needed
    ``projection.onnx``, and their data; returns the first one's path.

    Inputs of the predictor: see `Stack`. Output: ``hidden`` float32 [1, n, width].
    """
    spec = job.spec.predictor
    with GraphBuilder(job.folder, PREDICTOR_GRAPH) as graph:
        rows = Stack(graph, job, PREDICTOR_NAME, spec).declare()
        graph.output("hidden", rows, np.float32, (1, "n", spec.hidden))
        path = _save(graph, job)
    _build_heads(job)
    _build_frame(job)
    if job.spec.projected:
        _build_projection(job)
    return path


def talker_bytes(spec: Spec, mix: BlockMix) -> int:
    """What `build_talker` advances by in all, and about the size of its files."""
    head = _head_mix(mix).nbytes(spec.codes + 1, spec.talker.hidden)
    return stack_bytes(mix, spec.talker) + head


def predictor_bytes(spec: Spec, mix: BlockMix) -> int:
    """What `build_predictor` advances by in all, and about the size of its files."""
    width, head = spec.predictor.hidden, _head_mix(mix)
    heads = (spec.groups - 1) * head.nbytes(spec.codes, width)
    table = (spec.groups - 2) * spec.codes * width * _code_type(mix)().itemsize
    projection = head.nbytes(width, spec.talker.hidden) if spec.projected else 0
    return stack_bytes(mix, spec.predictor) + heads + table + projection


def _build_heads(job: Job) -> None:
    """Inputs ``vector`` float32 [1, 1, width] and ``group`` int64 []; output ``logits``
    float32 [1, 1, B]."""
    with GraphBuilder(job.folder, HEADS_GRAPH) as graph:
        vector = graph.input("vector", np.float32, (1, 1, job.spec.predictor.hidden))
        group = graph.input("group", np.int64, ())
        graph.output("logits", _head(graph, job, vector, group), np.float32, (1, 1, job.spec.codes))
        _save(graph, job)


def _head(graph: GraphBuilder, job: Job, vector: str, group: str) -> str:
    """The head of a group on vector [1, 1, width]: float32 [1, 1, B]."""

    def pick(start: int, stop: int) -> str:
        if stop - start == 1:
            head = Rows(f"{_PREDICTOR}.lm_head.{start}.weight", 0, job.spec.codes)
            return product(graph, job, vector, [head], _head_mix(job.mix))
        middle = (start + stop) // 2
        below = graph.op("Less", group, graph.constant(np.array(middle, np.int64)))
        return graph.choose(below, lambda: pick(start, middle), lambda: pick(middle, stop))

    return pick(0, job.spec.groups - 1)


def _build_frame(job: Job) -> None:
    """Inputs: ``first`` float32 [1, 2, width], the talker's hidden vector and the first code's;
    ``cos`` and ``sin`` float32 [G, head_dim / 2]; ``temperature`` float32 [], ``top_k`` int64 [1]
    and ``noise`` float32 [G - 1, B], which is added to the logits that survive: Gumbel noise to
    sample. Output: ``codes`` int64 [G - 1].
    """
    shape, spec = job.spec, job.spec.predictor
    with GraphBuilder(job.folder, FRAME_GRAPH) as graph:
        first = graph.input("first", np.float32, (1, 2, spec.hidden))
        cos = graph.input("cos", np.float32, (shape.groups, spec.head_dim // 2))
        sin = graph.input("sin", np.float32, (shape.groups, spec.head_dim // 2))
        temperature = graph.input("temperature", np.float32, ())
        top_k = graph.input("top_k", np.int64, (1,))
        noise = graph.input("noise", np.float32, (shape.groups - 1, shape.codes))
        empty = graph.constant(np.zeros((1, spec.kv_heads, 0, spec.head_dim), np.float32))
        none = graph.constant(np.zeros((), np.int32))
        vectors = _code_vectors(graph, job)
        stack = Stack(graph, job, PREDICTOR_NAME, spec)

        def one_code(group: str, carried: list[str]) -> tuple[list[str], str]:
            rows, before, *caches = carried
            count = graph.op("Cast", graph.op("Shape", rows, start=1, end=2), to=_INT32)
            length = graph.op("Add", before, graph.op("Squeeze", count))
            end = graph.op("Sub", length, graph.constant(np.ones((1,), np.int32)))
            hidden, caches = stack.layers(rows, CachePosition(end, length, cos, sin), caches)
            last = graph.op("Slice", hidden, graph.ints(-1), graph.ints(_END), graph.ints(1))
            logits = graph.op("Div", _head(graph, job, last, group), temperature)
            best, _ = graph.several("TopK", (logits, top_k), 2)
            kept = graph.op("GreaterOrEqual", logits, graph.op("ReduceMin", best))
            noisy = graph.op("Add", logits, graph.op("Gather", noise, group))
            chosen = graph.op("Where", kept, noisy, graph.floats(-np.inf))
            code = graph.op("Squeeze", graph.op("ArgMax", chosen, axis=-1, keepdims=0))
            return [vectors(group, code), length, *caches], code

        carried = [(first, np.float32), (none, np.int32), *[(empty, np.float32)] * 2 * spec.layers]
        codes = graph.repeat(shape.groups - 1, carried, one_code)
        graph.output("codes", codes, np.int64, (shape.groups - 1,))
        _save(graph, job)


def _code_vectors(graph: GraphBuilder, job: Job) -> Callable[[str, str], str]:
    """Adds what gives the vector of a code as the predictor is fed it: for a group and a code,
    int64 [] each, float32 [1, 1, width]. The last group's codes are never fed."""
    spec, width = job.spec, job.spec.predictor.hidden
    table = code_rows(job)
    stored = graph.bulk(table.reshape(-1, width))
    job.advance(table.nbytes)

    def vector(group: str, code: str) -> str:
        row = graph.op("Mul", group, graph.constant(np.array(spec.codes, np.int64)))
        last = graph.constant(np.array(len(table) * spec.codes - 1, np.int64))
        row = graph.op("Min", graph.op("Add", row, code), last)
        found = graph.op("Cast", graph.op("Gather", stored, row), to=_FLOAT32)
        return graph.op("Reshape", found, graph.ints(1, 1, width))

    return vector


def code_rows(job: Job) -> npt.NDArray[np.floating]:
    """The vectors of codes as the predictor is fed them, [G - 2, B, width]: the last group's are
    never fed."""
    spec, width = job.spec, job.spec.predictor.hidden
    name = f"{_PREDICTOR}.small_to_mtp_projection"
    table = np.empty((spec.groups - 2, spec.codes, width), _code_type(job.mix))
    for group, rows in enumerate(table):
        codes = job.weights[f"{_PREDICTOR}.model.codec_embedding.{group}.weight"]
        if spec.projected:
            codes = codes @ job.weights[f"{name}.weight"].T + job.weights[f"{name}.bias"]
        rows[:] = codes
    return table


def _build_projection(job: Job) -> None:
    """Input ``vector`` float32 [1, 1, H]; output ``projected`` float32 [1, 1, width]."""
    wide, width = job.spec.talker.hidden, job.spec.predictor.hidden
    name = f"{_PREDICTOR}.small_to_mtp_projection"
    with GraphBuilder(job.folder, PROJECTION_GRAPH) as graph:
        vector = graph.input("vector", np.float32, (1, 1, wide))
        rows = [Rows(f"{name}.weight", 0, width)]
        narrow = product(graph, job, vector, rows, _head_mix(job.mix))
        bias = graph.weight(job.weights[f"{name}.bias"])
        graph.output("projected", graph.op("Add", narrow, bias), np.float32, (1, 1, width))
        _save(graph, job)


def _code_type(stack: BlockMix) -> type[np.floating]:
    return np.float32 if stack.whole else np.float16


def _head_mix(stack: BlockMix) -> BlockMix:
    """How heads and projections are stored: eight bits are affordable there."""
    return stack if stack.whole else BLOCK_MIXES["int8"]


def _save(graph: GraphBuilder, job: Job) -> Path:
    return graph.save(job.marks | {"version": str(LANGUAGE_GRAPHS_VERSION), "quant": job.mix.name})
