"""A stack of Qwen3 layers as nodes of an ONNX graph, with weights straight from a checkpoint.

Each matrix is stored once, however many graphs of a folder use it. Knows nothing of what the stack
is for.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from s2s.models.onnx_file import Tensor
from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.errors import ConvertError
from s2s.tts.qwen3.onnx.quant import BlockMix, Packed, pack

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
    stored: dict[tuple[Rows, ...], list[Tensor]] = field(default_factory=dict)
    """Matrices that lie in a data file of the folder already."""


def stack_bytes(mix: BlockMix, spec: DecoderSpec) -> int:
    """Stored bytes of a stack's layers."""
    query, key = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    shapes = (
        (query + 2 * key, spec.hidden),
        (spec.hidden, query),
        (2 * spec.intermediate, spec.hidden),
        (spec.hidden, spec.intermediate),
    )
    return spec.layers * sum(mix.nbytes(*shape) for shape in shapes)


@dataclass(frozen=True, slots=True)
class CachePosition:
    """Values that say where in its stream a stack is: ``end`` int32 [1] the last new position's
    number, ``length`` int32 [] how many there are with the new ones, ``cos`` and ``sin`` float32
    [room, head_dim / 2] the rotary angles of them all."""

    end: str
    length: str
    cos: str
    sin: str


class Stack:
    """A stack of Qwen3 layers and its final norm.

    As a graph: inputs ``vectors`` float32 [1, n, hidden], those of a `CachePosition` by their
    names, and the caches ``key.L`` and ``value.L`` float32 [1, kv heads, room, head_dim].
    Outputs ``next.key.L`` and ``next.value.L`` have to be bound to the same memory.
    """

    def __init__(self, graph: GraphBuilder, job: Job, name: str, spec: DecoderSpec) -> None:
        self._graph = graph
        self._job = job
        self._name = name
        self._spec = spec

    def declare(self) -> str:
        """Add the stack with its inputs and cache outputs; returns the normed rows."""
        graph, spec = self._graph, self._spec
        vectors = graph.input("vectors", np.float32, (1, "n", spec.hidden))
        place = CachePosition(
            graph.input("end", np.int32, (1,)),
            graph.input("length", np.int32, ()),
            graph.input("cos", np.float32, ("room", spec.head_dim // 2)),
            graph.input("sin", np.float32, ("room", spec.head_dim // 2)),
        )
        shape = (1, spec.kv_heads, "room", spec.head_dim)
        caches = [graph.input(name, np.float32, shape) for name in self._caches()]
        rows, after = self.layers(vectors, place, caches)
        for cache in after:
            graph.expose(cache, np.float32, shape)
        return rows

    def layers(
        self, vectors: str, place: CachePosition, caches: list[str]
    ) -> tuple[str, list[str]]:
        """Add the stack; returns the normed rows [1, n, hidden] and the caches after them."""
        spec, total = self._spec, vectors
        after = [f"next.{name}" for name in self._caches()]
        normed = self._norm(total, "layers.0.input_layernorm")
        for layer in range(spec.layers):
            prefix, pair = f"layers.{layer}", slice(2 * layer, 2 * layer + 2)
            mixed = self._attention(normed, layer, place, caches[pair], after[pair])
            added = self._matrix(mixed, spec.hidden, f"{prefix}.self_attn.o_proj")
            normed, total = self._add_norm(total, added, f"{prefix}.post_attention_layernorm")
            added = self._mlp(normed, f"{prefix}.mlp")
            next_norm = f"layers.{layer + 1}.input_layernorm"
            normed, total = self._add_norm(
                total, added, next_norm if layer + 1 < spec.layers else "norm"
            )
        return normed, after

    def _caches(self) -> list[str]:
        layers = range(self._spec.layers)
        return [f"{part}.{layer}" for layer in layers for part in ("key", "value")]

    def _attention(
        self, normed: str, layer: int, place: CachePosition, caches: list[str], after: list[str]
    ) -> str:
        """Keys and values of the new positions go into the caches: [1, n, heads * head_dim]."""
        graph, spec, prefix = self._graph, self._spec, f"layers.{layer}.self_attn"
        query, key = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
        names = [f"{prefix}.{part}_proj" for part in "qkv"]
        joined = self._matrices(normed, list(zip(names, (query, key, key), strict=True)))
        queries, keys, values = graph.split(joined, (query, key, key), axis=2)
        queries = self._head_norm(queries, spec.heads, f"{prefix}.q_norm")
        keys = self._head_norm(keys, spec.kv_heads, f"{prefix}.k_norm")
        mixed = f"mixed.{layer}"
        graph.ops(
            "GroupQueryAttention",
            [queries, keys, values, *caches, place.end, place.length, place.cos, place.sin],
            [mixed, *after],
            contrib=True,
            num_heads=spec.heads,
            kv_num_heads=spec.kv_heads,
            do_rotary=1,
        )
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
        return product(self._graph, self._job, value, rows, self._job.mix)


def product(graph: GraphBuilder, job: Job, value: str, parts: list[Rows], mix: BlockMix) -> str:
    """value [..., width] times a matrix of rows of that width: [..., rows]."""
    count, width = sum(part.count for part in parts), job.weights.shape(parts[0].name)[1]
    stored = job.stored.get(tuple(parts))
    if stored is None:
        stored = job.stored[tuple(parts)] = _store(graph, job, parts, mix)
        job.advance(mix.nbytes(count, width))
    tensors = [graph.include(tensor) for tensor in stored]
    if mix.whole:
        return graph.op("MatMul", value, *tensors)
    return graph.op(
        "MatMulNBits",
        value,
        *tensors,
        contrib=True,
        K=width,
        N=count,
        bits=mix.bits,
        block_size=mix.block,
        accuracy_level=_FAST,
    )


def _store(graph: GraphBuilder, job: Job, parts: list[Rows], mix: BlockMix) -> list[Tensor]:
    if mix.whole:
        read = [job.weights.rows(part.name, part.start, part.stop) for part in parts]
        return [graph.store(np.concatenate(read).T)]
    packed = _pack(job, parts, mix)
    arrays = packed.values, packed.scales.reshape(-1), packed.zeros.reshape(-1)
    return [graph.store(array) for array in arrays]


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
            raise ConvertError(f"{piece.name}: {error}") from error

    with ThreadPoolExecutor(job.threads) as pool:
        done = list(pool.map(quantise, pieces))
    return Packed(
        np.concatenate([each.values for each in done]),
        np.concatenate([each.scales for each in done]),
        np.concatenate([each.zeros for each in done]),
    )
