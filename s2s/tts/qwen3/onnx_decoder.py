"""The graphs of talker and code predictor for ONNX Runtime, straight from a checkpoint's tensors.

``talker`` and ``predictor`` are stacks of Qwen3 layers that append positions to key/value caches
of fixed room, in place: the attention operator writes into the memory its cache inputs share with
its cache outputs. ``heads`` holds the code predictor's heads, of which a run computes one;
``projection`` narrows the talker's hidden vector for it. Knows nothing of running them.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint import Checkpoint
from s2s.tts.qwen3.onnx_builder import GraphBuilder
from s2s.tts.qwen3.onnx_quant import BLOCK_MIXES, BlockMix, Packed, pack
from s2s.tts.qwen3.reference import PREDICTOR_NAME, TALKER_NAME
from s2s.tts.qwen3.spec import DecoderSpec, Spec

TALKER_GRAPH, PREDICTOR_GRAPH = "talker", "predictor"
HEADS_GRAPH, PROJECTION_GRAPH = "heads", "projection"
GRAPH_VERSION = 1
"""Of these graphs together; another number is refused."""

_PREDICTOR = "talker.code_predictor"
_END = np.iinfo(np.int64).max
_PIECE_ROWS = 256
_FAST = 4  # accuracy_level: products of eight-bit numbers, activations rounded a block at a time

Advance = Callable[[int], None]
"""Told the stored bytes of every matrix that is done."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a checkpoint's matrix."""

    name: str
    start: int
    stop: int

    @property
    def count(self) -> int:
        """How many."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Job:
    """What a graph is made from, how, and where to.

    ``marks`` are kept in every graph; ``threads`` work on a matrix at once.
    """

    spec: Spec
    weights: Checkpoint
    mix: BlockMix
    folder: Path
    marks: dict[str, str]
    threads: int = 1
    advance: Advance = lambda _: None


def build_talker(job: Job) -> Path:
    """Write ``talker.onnx`` and its data; returns the graph's path.

    Inputs: see `_Stack`. Outputs: ``hidden`` float32 [1, 1, H] of the last position, ``logits``
    float32 [1, 1, codes + 1]: every code, and the end of speech behind them.
    """
    spec = job.spec
    name = "talker.codec_head.weight"
    head = [Rows(name, 0, spec.codes), Rows(name, spec.ids.eos, spec.ids.eos + 1)]
    with GraphBuilder(job.folder, TALKER_GRAPH) as graph:
        rows = _Stack(graph, job, TALKER_NAME, spec.talker).build()
        last = graph.op("Slice", rows, graph.ints(-1), graph.ints(_END), graph.ints(1))
        graph.output("hidden", last, np.float32, (1, 1, spec.talker.hidden))
        logits = _product(graph, job, last, head, _head_mix(job.mix))
        graph.output("logits", logits, np.float32, (1, 1, spec.codes + 1))
        return _save(graph, job)


def build_predictor(job: Job) -> Path:
    """Write ``predictor.onnx``, ``heads.onnx``, where it is needed ``projection.onnx``, and their
    data; returns the first one's path.

    Inputs of the predictor: see `_Stack`. Output: ``hidden`` float32 [1, n, width].
    """
    width = job.spec.predictor.hidden
    _build_heads(job)
    if job.spec.projected:
        _build_projection(job)
    with GraphBuilder(job.folder, PREDICTOR_GRAPH) as graph:
        rows = _Stack(graph, job, PREDICTOR_NAME, job.spec.predictor).build()
        graph.output("hidden", rows, np.float32, (1, "n", width))
        return _save(graph, job)


def stack_bytes(mix: BlockMix, spec: DecoderSpec) -> int:
    """Bytes of a stack's layers, for progress and free space."""
    query, key = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    shapes = (
        (query + 2 * key, spec.hidden),
        (spec.hidden, query),
        (2 * spec.intermediate, spec.hidden),
        (spec.hidden, spec.intermediate),
    )
    return spec.layers * sum(mix.nbytes(*shape) for shape in shapes)


def _build_heads(job: Job) -> None:
    """Inputs ``vector`` float32 [1, 1, width] and ``group`` int64 []; output ``logits``
    float32 [1, 1, B]."""
    width, codes = job.spec.predictor.hidden, job.spec.codes
    with GraphBuilder(job.folder, HEADS_GRAPH) as graph:
        vector = graph.input("vector", np.float32, (1, 1, width))
        group = graph.input("group", np.int64, ())

        def pick(start: int, stop: int) -> str:
            if stop - start == 1:
                head = Rows(f"{_PREDICTOR}.lm_head.{start}.weight", 0, codes)
                return _product(graph, job, vector, [head], _head_mix(job.mix))
            middle = (start + stop) // 2
            below = graph.op("Less", group, graph.constant(np.array(middle, np.int64)))
            return graph.choose(below, lambda: pick(start, middle), lambda: pick(middle, stop))

        graph.output("logits", pick(0, job.spec.groups - 1), np.float32, (1, 1, codes))
        _save(graph, job)


def _build_projection(job: Job) -> None:
    """Input ``vector`` float32 [1, 1, H]; output ``projected`` float32 [1, 1, width]."""
    wide, width = job.spec.talker.hidden, job.spec.predictor.hidden
    name = f"{_PREDICTOR}.small_to_mtp_projection"
    with GraphBuilder(job.folder, PROJECTION_GRAPH) as graph:
        vector = graph.input("vector", np.float32, (1, 1, wide))
        rows = [Rows(f"{name}.weight", 0, width)]
        product = _product(graph, job, vector, rows, _head_mix(job.mix))
        bias = graph.weight(job.weights[f"{name}.bias"])
        graph.output("projected", graph.op("Add", product, bias), np.float32, (1, 1, width))
        _save(graph, job)


class _Stack:
    """A stack of Qwen3 layers and its final norm.

    Inputs: ``vectors`` float32 [1, n, hidden]; ``end`` int32 [1] and ``length`` int32 [], the
    last position's number and how many there are with the new ones; ``cos`` and ``sin`` float32
    [room, head_dim / 2]; the caches ``key.L`` and ``value.L`` float32 [1, kv heads, room,
    head_dim]. Outputs ``next.key.L`` and ``next.value.L`` have to be bound to the same memory.
    """

    def __init__(self, graph: GraphBuilder, job: Job, name: str, spec: DecoderSpec) -> None:
        self._graph = graph
        self._job = job
        self._name = name
        self._spec = spec

    def build(self) -> str:
        """Add the stack; returns the normed rows [1, n, hidden]."""
        graph, spec = self._graph, self._spec
        half = spec.head_dim // 2
        total = graph.input("vectors", np.float32, (1, "n", spec.hidden))
        graph.input("end", np.int32, (1,))
        graph.input("length", np.int32, ())
        graph.input("cos", np.float32, ("room", half))
        graph.input("sin", np.float32, ("room", half))
        normed = self._norm(total, "layers.0.input_layernorm")
        for layer in range(spec.layers):
            prefix = f"layers.{layer}"
            mixed = self._attention(normed, layer)
            added = self._matrix(mixed, spec.hidden, f"{prefix}.self_attn.o_proj")
            normed, total = self._add_norm(total, added, f"{prefix}.post_attention_layernorm")
            added = self._mlp(normed, f"{prefix}.mlp")
            after = f"layers.{layer + 1}.input_layernorm" if layer + 1 < spec.layers else "norm"
            normed, total = self._add_norm(total, added, after)
        return normed

    def _attention(self, normed: str, layer: int) -> str:
        """Keys and values of the new positions go into the caches: [1, n, heads * head_dim]."""
        graph, spec, prefix = self._graph, self._spec, f"layers.{layer}.self_attn"
        query, key = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
        names = [f"{prefix}.{part}_proj" for part in "qkv"]
        joined = self._matrices(normed, list(zip(names, (query, key, key), strict=True)))
        queries, keys, values = graph.split(joined, (query, key, key), axis=2)
        queries = self._head_norm(queries, spec.heads, f"{prefix}.q_norm")
        keys = self._head_norm(keys, spec.kv_heads, f"{prefix}.k_norm")
        shape = (1, spec.kv_heads, "room", spec.head_dim)
        caches = [graph.input(f"{part}.{layer}", np.float32, shape) for part in ("key", "value")]
        mixed = f"mixed.{layer}"
        graph.ops(
            "GroupQueryAttention",
            [queries, keys, values, *caches, "end", "length", "cos", "sin"],
            [mixed, *(f"next.{cache}" for cache in caches)],
            contrib=True,
            num_heads=spec.heads,
            kv_num_heads=spec.kv_heads,
            do_rotary=1,
        )
        for cache in caches:
            graph.expose(f"next.{cache}", np.float32, shape)
        return mixed

    def _mlp(self, normed: str, prefix: str) -> str:
        graph, inner = self._graph, self._spec.intermediate
        names = [(f"{prefix}.gate_proj", inner), (f"{prefix}.up_proj", inner)]
        gate, up = graph.split(self._matrices(normed, names), (inner, inner), axis=2)
        gate = graph.op("QuickGelu", gate, contrib=True, alpha=1.0)  # with 1 it is SiLU
        return self._matrix(graph.op("Mul", gate, up), self._spec.hidden, f"{prefix}.down_proj")

    def _head_norm(self, value: str, heads: int, name: str) -> str:
        """The norm of every head by itself."""
        graph, width = self._graph, self._spec.head_dim
        by_head = graph.op("Reshape", value, graph.ints(1, -1, heads, width))
        return graph.op("Reshape", self._norm(by_head, name), graph.ints(1, -1, heads * width))

    def _norm(self, value: str, name: str) -> str:
        return self._graph.op(
            "SimplifiedLayerNormalization",
            value,
            self._vector(name),
            axis=-1,
            epsilon=self._spec.rms_norm_eps,
        )

    def _add_norm(self, total: str, added: str, name: str) -> tuple[str, str]:
        return self._graph.add_rms_norm(total, added, self._vector(name), self._spec.rms_norm_eps)

    def _vector(self, name: str) -> str:
        return self._graph.weight(self._job.weights[f"{self._name}.{name}.weight"])

    def _matrix(self, value: str, count: int, name: str) -> str:
        return self._matrices(value, [(name, count)])

    def _matrices(self, value: str, parts: list[tuple[str, int]]) -> str:
        """Several matrices in one product, their results side by side."""
        rows = [Rows(f"{self._name}.{name}.weight", 0, count) for name, count in parts]
        return _product(self._graph, self._job, value, rows, self._job.mix)


def _head_mix(stack: BlockMix) -> BlockMix:
    """How heads and projections are stored: eight bits are affordable there."""
    return stack if stack.whole else BLOCK_MIXES["int8"]


def _product(graph: GraphBuilder, job: Job, value: str, parts: list[Rows], mix: BlockMix) -> str:
    """value [..., width] times a matrix of rows of that width: [..., rows]."""
    if mix.whole:
        read = [job.weights.rows(part.name, part.start, part.stop) for part in parts]
        product = graph.op("MatMul", value, graph.weight(np.concatenate(read).T))
    else:
        packed = _pack(job, parts, mix)
        product = graph.op(
            "MatMulNBits",
            value,
            graph.bulk(packed.values),
            graph.bulk(packed.scales.reshape(-1)),
            graph.bulk(packed.zeros.reshape(-1)),
            contrib=True,
            K=job.weights.shape(parts[0].name)[1],
            N=len(packed.scales),
            bits=mix.bits,
            block_size=mix.block,
            accuracy_level=_FAST,
        )
    width = job.weights.shape(parts[0].name)[1]
    job.advance(mix.nbytes(sum(part.count for part in parts), width))
    return product


def _pack(job: Job, parts: list[Rows], mix: BlockMix) -> Packed:
    """Quantise rows, some at a time: the float32 of few of them is in memory at once."""
    pieces = [
        Rows(part.name, start, min(start + _PIECE_ROWS, part.stop))
        for part in parts
        for start in range(part.start, part.stop, _PIECE_ROWS)
    ]

    def quantise(piece: Rows) -> Packed:
        try:
            return pack(job.weights.rows(piece.name, piece.start, piece.stop), mix)
        except ValueError as error:
            raise ValueError(f"{piece.name}: {error}") from error

    with ThreadPoolExecutor(job.threads) as pool:
        done = list(pool.map(quantise, pieces))
    return Packed(
        np.concatenate([each.values for each in done]),
        np.concatenate([each.scales for each in done]),
        np.concatenate([each.zeros for each in done]),
    )


def _save(graph: GraphBuilder, job: Job) -> Path:
    return graph.save(job.marks | {"version": str(GRAPH_VERSION), "quant": job.mix.name})
