"""A transformer on the compiled kernel: weights of a GGUF file packed once and kept, then
embeddings in and hidden vectors out.

Four-bit K-quants stay in four bits, everything else becomes eight; what is multiplied with them is
rounded to eight bits, in blocks of 32, as it comes. Weights lie in large pages where the system
has them.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.gguf import GGUFFile
from s2s.tts.qwen3.checkpoint.quant import TensorType
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec
from s2s.tts.qwen3.checkpoint.tables import kind_of, vector
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.native import library as kernel
from s2s.tts.qwen3.native.kept import KeptWeights, Origin, Packed
from s2s.tts.qwen3.native.library import MATRICES, NORMS, KernelError, address
from s2s.tts.qwen3.native.memory import WeightMemory

_BLOCK = 32
_HEAD_STEP = 64
_FOUR_BITS = "q4_k"
_ALIGNMENT = 64
_ELSEWHERE = "take the onnx or ggml backend"
_NORM_NAMES = dict(zip(NORMS, ("attn_norm", "attn_q_norm", "attn_k_norm", "ffn_norm"), strict=True))


class ThreadPool:
    """The kernel's thread pool. Idle threads sleep."""

    def __init__(self, cache: Path, threads: int) -> None:
        """The kernel is compiled into ``cache`` if it must be and is not there. Raises
        KernelError."""
        self.kernel = kernel.load_kernel(cache)
        self.kernel_path = kernel.kernel_path(cache)
        """Names it, and says beside what packed weights are kept."""
        self.threads = threads
        self.pointer: int = self.kernel.pool_new(threads)
        if not self.pointer:
            raise KernelError(f"{threads} threads cannot be had")
        self._free = weakref.finalize(self, self.kernel.pool_free, self.pointer)


@dataclass(frozen=True, slots=True)
class Stored:
    """Rows of a tensor in a GGUF file: the name, its type, and which rows to take."""

    file: GGUFFile
    name: str
    rows: Sequence[range]
    columns: int

    @classmethod
    def whole(cls, file: GGUFFile, name: str, shape: tuple[int, int]) -> Stored:
        """All rows. Raises GGUFError when the tensor is missing or has another shape."""
        file.require(name, shape)
        return cls(file, name, (range(shape[0]),), shape[1])

    @property
    def kind(self) -> TensorType:
        """How its rows are stored."""
        return kind_of(self.file, self.name)

    @property
    def layout(self) -> object:
        """What decides how it is packed, as JSON."""
        rows = [(each.start, each.stop) for each in self.rows]
        return self.name, self.kind.ggml_id, rows, self.columns

    @property
    def count(self) -> int:
        """Rows taken."""
        return sum(len(rows) for rows in self.rows)


class Matrices:
    """Packed matrices in one piece of memory."""

    def __init__(
        self, pool: ThreadPool, stored: Mapping[str, Stored], part: str | None = None
    ) -> None:
        """Pack the tensors, by the names they are given here, or read them as they were packed
        before and kept as ``part``. Raises KernelError for a type or a width that the kernel does
        not have, or when memory runs out."""
        self.pool = pool
        lib = pool.kernel
        self._shapes = {name: (each.count, each.columns) for name, each in stored.items()}
        sizes = {name: self._bytes(each) for name, each in stored.items()}
        offsets: dict[str, int] = {}
        total = 0
        for name, size in sizes.items():
            offsets[name] = total
            total += -(-size // _ALIGNMENT) * _ALIGNMENT
        files = {id(each.file): each.file for each in stored.values()}.values()
        kept = None
        if part is not None:
            origin = Origin.of(*(file.path for file in files))
            layout = [(name, each.layout, offsets[name]) for name, each in stored.items()]
            kept = KeptWeights(pool.kernel_path, part, origin, layout)
        self._memory = memory = WeightMemory(lib, total, pool.threads, kept)
        self.pointers: dict[str, int] = {}
        for name, each in stored.items():
            pointer: int = lib.matrix_new(
                each.count, each.columns, bits_of(each.kind), memory.pointer + offsets[name]
            )
            if not pointer:
                raise KernelError("no memory for a matrix")
            weakref.finalize(self, lib.matrix_free, pointer)
            self.pointers[name] = pointer
        if memory.filled:
            return
        with ThreadPoolExecutor(pool.threads) as packers:
            for _ in packers.map(self._fill, stored, stored.values()):
                pass
        for file in files:
            file.let_go()
        memory.keep()

    @property
    def packed(self) -> Packed:
        """All of them as they lie in memory: uint8 [n], for as long as this lives."""
        return self._memory.values

    def product(self, name: str, vector: Floats) -> Floats:
        """A matrix times a vector: float32 [columns] to float32 [rows]."""
        rows, columns = self._shapes[name]
        vector = np.ascontiguousarray(vector, np.float32)
        if vector.shape != (columns,):
            raise ValueError(f"a vector of shape {vector.shape}; wanted [{columns}]")
        out = np.empty(rows, np.float32)
        pool = self.pool  # held: another thread may set another one meanwhile
        status = pool.kernel.matrix_product(
            pool.pointer, self.pointers[name], address(vector), address(out)
        )
        kernel.require(status, f"no memory for a product of {columns} columns")
        return out

    def _bytes(self, stored: Stored) -> int:
        if stored.columns % _BLOCK:
            raise KernelError(
                f"{stored.file.path}: {stored.name}: rows of {stored.columns} values do not "
                f"divide into blocks of {_BLOCK}; {_ELSEWHERE}"
            )
        bits = bits_of(stored.kind)
        size: int = self.pool.kernel.matrix_bytes(stored.count, stored.columns, bits)
        if not size:
            raise KernelError(
                f"{stored.file.path}: {stored.name}: the kernel has no matrix of {stored.count} "
                f"times {stored.columns}; {_ELSEWHERE}"
            )
        return size

    def _fill(self, name: str, stored: Stored) -> None:
        done = 0
        raw = stored.file.raw(stored.name)
        for rows in stored.rows:
            part = np.ascontiguousarray(raw[rows.start : rows.stop])
            status = self.pool.kernel.matrix_fill(
                self.pointers[name],
                stored.kind.ggml_id,
                address(part),
                done,
                len(rows),
            )
            if status:
                raise KernelError(f"{stored.name}: the kernel cannot read {stored.kind.name}")
            done += len(rows)


class KvCache:
    """Keys and values of one utterance or one frame."""

    def __init__(self, pool: ThreadPool, decoder: int, room: int) -> None:
        self.room = room
        self.pointer: int = pool.kernel.cache_new(decoder, room)
        if not self.pointer:
            raise KernelError(f"no memory for a cache of {room} positions")
        self._kernel = pool.kernel
        self.close = weakref.finalize(self, pool.kernel.cache_free, self.pointer)
        """Free it; calling it twice does no harm."""

    @property
    def positions(self) -> int:
        """How many positions have been fed."""
        return self._kernel.cache_length(self.open())

    def rewind(self, positions: int) -> None:
        """Drop all but the first ``positions``. Raises ValueError when there are fewer."""
        if not 0 <= positions <= self.positions:
            raise ValueError(f"the cache holds {self.positions} positions, not {positions}")
        self._kernel.cache_rewind(self.pointer, positions)

    def open(self) -> int:
        """Where it lies. Raises ValueError when it is closed."""
        if not self.close.alive:
            raise ValueError("this state is closed: make a new one")
        return self.pointer


class Transformer:
    """The layers and the final norm of one transformer."""

    def __init__(self, pool: ThreadPool, file: GGUFFile, spec: DecoderSpec, part: str) -> None:
        """Pack the transformer of a converted checkpoint. Raises GGUFError when a tensor is missing
        or of another shape, KernelError when the kernel cannot hold it."""
        if spec.head_dim % _HEAD_STEP:
            raise KernelError(
                f"{file.path}: head_dim is {spec.head_dim}, no multiple of {_HEAD_STEP}; "
                f"{_ELSEWHERE}"
            )
        self.width = spec.hidden
        self._pool = pool
        self._matrices = Matrices(pool, layer_matrices(file, spec), part)
        layers = (kernel.Layer * spec.layers)()
        keep: list[Floats] = []
        for at, layer in enumerate(layers):
            for name in MATRICES:
                setattr(layer, name, self._matrices.pointers[f"{at}.{name}"])
            for name, norm in zip(NORMS, layer_norms(file, spec, at), strict=True):
                keep.append(norm)
                setattr(layer, name, address(norm))
        self._norms = keep  # the kernel reads them where they are
        shape = kernel.Shape(
            spec.hidden, spec.intermediate, spec.layers, spec.heads, spec.kv_heads, spec.head_dim,
            spec.rms_norm_eps, spec.rope_theta,
        )  # fmt: skip
        last = last_norm(file, spec)
        self.pointer: int = pool.kernel.transformer_new(
            ctypes.byref(shape), layers, address(last), pool.pointer
        )
        if not self.pointer:
            raise KernelError("no memory for a transformer")
        self._free = weakref.finalize(self, pool.kernel.transformer_free, self.pointer)

    def use(self, pool: ThreadPool) -> None:
        """Another thread pool computes from now on."""
        self._pool.kernel.transformer_use(self.pointer, pool.pointer)
        self._pool = pool

    def new_cache(self, room: int) -> KvCache:
        """An empty cache for ``room`` positions."""
        if room < 1:
            raise ValueError(f"a cache of {room} positions holds nothing")
        return KvCache(self._pool, self.pointer, room)

    def forward(self, cache: KvCache, inputs: Floats) -> Floats:
        """Append positions. inputs: float32 [n, hidden]; returns the normed outputs, same shape.

        Raises ValueError when the cache has no room for n more.
        """
        inputs = np.ascontiguousarray(inputs, np.float32)
        if inputs.ndim != 2 or inputs.shape[1] != self.width:
            raise ValueError(f"vectors of shape {inputs.shape}; wanted [n, {self.width}]")
        wanted = cache.positions + len(inputs)
        if wanted > cache.room:
            raise ValueError(f"the cache holds {cache.room} positions, {wanted} were asked for")
        out = np.empty_like(inputs)
        status = self._pool.kernel.transformer_forward(
            self.pointer, cache.pointer, address(inputs), len(inputs), address(out)
        )
        kernel.require(status, f"no memory for {wanted} positions")
        return out


def bits_of(kind: TensorType) -> int:
    """Of a weight in memory, whatever type it was stored in: 4 or 8."""
    return 4 if kind.name == _FOUR_BITS else 8


def layer_matrices(file: GGUFFile, spec: DecoderSpec) -> dict[str, Stored]:
    """The matrices of all layers, as they lie one behind the other. Raises GGUFError."""
    return {
        f"{layer}.{name}": Stored.whole(file, f"blk.{layer}.{stored}.weight", shape)
        for layer in range(spec.layers)
        for name, stored, shape in _shapes(spec)
    }


def layer_norms(file: GGUFFile, spec: DecoderSpec, layer: int) -> list[Floats]:
    """A layer's norms, in the order of `NORMS`: float32 [hidden] or [head_dim]. Raises
    GGUFError."""
    return [
        vector(
            file,
            f"blk.{layer}.{_NORM_NAMES[name]}.weight",
            spec.head_dim if name in ("query_norm", "key_norm") else spec.hidden,
        )
        for name in NORMS
    ]


def last_norm(file: GGUFFile, spec: DecoderSpec) -> Floats:
    """The norm behind the last layer: float32 [hidden]. Raises GGUFError."""
    return vector(file, "output_norm.weight", spec.hidden)


def _shapes(spec: DecoderSpec) -> Iterable[tuple[str, str, tuple[int, int]]]:
    """Kernel name, file name and shape [out, in] of a layer's matrices."""
    inner, narrow = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    return [
        ("query", "attn_q", (inner, spec.hidden)),
        ("key", "attn_k", (narrow, spec.hidden)),
        ("value", "attn_v", (narrow, spec.hidden)),
        ("out", "attn_output", (spec.hidden, inner)),
        ("gate", "ffn_gate", (spec.intermediate, spec.hidden)),
        ("up", "ffn_up", (spec.intermediate, spec.hidden)),
        ("down", "ffn_down", (spec.hidden, spec.intermediate)),
    ]
