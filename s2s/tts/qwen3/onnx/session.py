"""Graphs of ``onnx_decoder`` opened, and what a stack of layers computes in: caches written in
place, with everything a run reads and writes bound once.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.system.onnx import SPINNING, Providers, is_runtime_error, onnx_session
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec
from s2s.tts.qwen3.checkpoint.tables import open_tables
from s2s.tts.qwen3.errors import OnnxError
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.onnx.language_graph import LANGUAGE_GRAPHS_VERSION

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, IOBinding, OrtValue

_KEPT_RUNS = 16
"""Runs of up to this many positions keep what is bound for the next of the same length."""


def check_files(folder: Path, name: str) -> None:
    """Raise OnnxError when a graph or its data is not there."""
    for file in (folder / f"{name}.onnx", folder / f"{name}.onnx.data"):
        if not file.is_file():
            raise OnnxError(f"{file} is missing; convert the checkpoint")


def open_session(
    path: Path,
    threads: int,
    *,
    arena: bool = True,
    providers: Providers = ("CPUExecutionProvider",),
    entries: Mapping[str, str] | None = None,
) -> InferenceSession:
    """`onnx_session` of a graph that this program has made. Raises OnnxError."""
    if importlib.util.find_spec("onnxruntime") is None:
        raise OnnxError("onnxruntime is not installed: pip install 's2s[qwen3]'")
    try:
        return onnx_session(
            path, threads=threads, arena=arena, providers=providers, entries=entries
        )
    except Exception as error:  # its errors have no base of their own
        if type(error).__name__ == "NotImplemented":
            raise OnnxError(
                f"{path} needs a newer onnxruntime: pip install -U onnxruntime ({error})"
            ) from error
        if is_runtime_error(error):
            raise OnnxError(f"{path} cannot be opened; convert it again ({error})") from error
        raise


def open_graph(
    folder: Path, name: str, threads: int, spin: bool = False
) -> tuple[InferenceSession, str]:
    """A graph of a converted checkpoint, and its quantisation. Raises OnnxError or GGUFError."""
    check_files(folder, name)
    path = folder / f"{name}.onnx"
    session = open_session(path, threads, entries=SPINNING if spin else None)
    marks = session.get_modelmeta().custom_metadata_map
    if marks.get("version") != str(LANGUAGE_GRAPHS_VERSION):
        raise OnnxError(f"{path} is of another version of this program; convert it again")
    if marks.get("source") != open_tables(folder).metadata.get("s2s.source"):
        raise OnnxError(f"{folder}: its files come from different checkpoints; convert again")
    return session, marks.get("quant", "")


@dataclass(frozen=True, slots=True)
class _Run:
    """One run with all that it reads and writes bound: ``vectors`` [1, n, hidden] in, ``outputs``
    by name out."""

    binding: IOBinding
    vectors: Floats
    outputs: dict[str, Floats]


@dataclass(slots=True)
class OnnxCache:
    """Keys and values of one utterance's talker, or of one frame.

    ``caches`` by name float32 [1, kv heads, room, head_dim]; ``end`` int32 [1] and ``length``
    int32 [] are what the graph is told of how much of them is filled.
    """

    room: int
    caches: dict[str, Floats]
    rope: dict[str, Floats]
    end: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(1, np.int32))
    length: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((), np.int32))
    positions: int = 0
    """How many have been fed."""
    forward_passes: int = 0
    """Runs made."""
    closed: bool = False
    runs: dict[int, _Run] = field(default_factory=dict)

    def close(self) -> None:
        """Drop the memory; the state cannot be used any more."""
        self.closed = True
        self.runs, self.caches = {}, {}

    def rewind(self, positions: int) -> None:
        """Forget all but the first ``positions``. Raises ValueError when there are fewer."""
        if not 0 <= positions <= self.positions:
            raise ValueError(f"cannot go back to {positions} positions, there are {self.positions}")
        self.positions = positions


def new_cache(room: int, spec: DecoderSpec) -> OnnxCache:
    """An empty cache for ``room`` positions."""
    if room < 1:
        raise ValueError(f"max_positions is {room}; a cache needs room for one at least")
    names = [f"{part}.{layer}" for layer in range(spec.layers) for part in ("key", "value")]
    shape = (1, spec.kv_heads, room, spec.head_dim)
    caches = {name: np.zeros(shape, np.float32) for name in names}
    return OnnxCache(room, caches, rope(room, spec))


class StackGraph:
    """One stack's graph: vectors in, what the graph says of them out."""

    def __init__(self, session: InferenceSession, spec: DecoderSpec) -> None:
        self._session = session
        self._spec = spec
        self._shapes = {
            item.name: item.shape
            for item in session.get_outputs()
            if not item.name.startswith("next.")
        }
        layers = sum(item.name.startswith("key.") for item in session.get_inputs())
        width = session.get_inputs()[0].shape[-1]
        if (layers, width) != (spec.layers, spec.hidden):
            raise OnnxError(
                f"config.json says {spec.layers} layers {spec.hidden} wide, the graph has {layers} "
                f"of {width}; convert the checkpoint again"
            )

    def feed(self, cache: OnnxCache, vectors: Floats) -> dict[str, Floats]:
        """Append positions. vectors: float32 [n, hidden].

        The outputs are overwritten by the next run of as many positions. Raises ValueError when
        the cache is closed or has no room for n more.
        """
        count = len(vectors)
        if cache.closed:
            raise ValueError("this state is closed: make a new one")
        if vectors.ndim != 2 or vectors.shape[1] != self._spec.hidden or not count:
            raise ValueError(f"[n, {self._spec.hidden}] wanted, got {list(vectors.shape)}")
        stop = cache.positions + count
        if stop > cache.room:
            raise ValueError(f"no room for {count} more: {cache.positions} of {cache.room} taken")
        run = cache.runs.get(count)
        if run is None:
            run = self._bind(cache, count)
            if count <= _KEPT_RUNS:
                cache.runs[count] = run
        run.vectors[0] = vectors
        cache.end[0], cache.length[()] = stop - 1, stop
        self._session.run_with_iobinding(run.binding)
        cache.positions = stop
        cache.forward_passes += 1
        return run.outputs

    def _bind(self, cache: OnnxCache, count: int) -> _Run:
        vectors = np.zeros((1, count, self._spec.hidden), np.float32)
        inputs = {"vectors": vectors, "end": cache.end, "length": cache.length, **cache.rope}
        outputs = {
            name: np.zeros([size if isinstance(size, int) else count for size in shape], np.float32)
            for name, shape in self._shapes.items()
        }
        binding = self._session.io_binding()
        for name, array in inputs.items():
            binding.bind_ortvalue_input(name, _shared(array))
        for name, array in cache.caches.items():
            value = _shared(array)
            binding.bind_ortvalue_input(name, value)
            binding.bind_ortvalue_output(f"next.{name}", value)
        for name, array in outputs.items():
            binding.bind_ortvalue_output(name, _shared(array))
        return _Run(binding, vectors, outputs)


def _shared(array: npt.NDArray[np.generic]) -> OrtValue:
    """A value in the array's own memory; the array has to outlive it."""
    from onnxruntime import OrtValue

    return OrtValue.ortvalue_from_numpy(array)


def rope(room: int, spec: DecoderSpec) -> dict[str, Floats]:
    """Cosines and sines of the rotary angles of ``room`` positions: float32 [room, head_dim / 2]
    each. The three position streams of the talker's config are always equal, which is one."""
    half = spec.head_dim // 2
    inverse = spec.rope_theta ** -(np.arange(half, dtype=np.float32) / np.float32(half))
    angles = np.arange(room, dtype=np.float32)[:, None] * inverse.astype(np.float32)
    return {"cos": np.cos(angles), "sin": np.sin(angles)}
