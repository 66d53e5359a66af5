"""Talker and code predictor on ONNX Runtime, CPU: the graphs of a checkpoint converted to a mix of
``onnx_quant``.

Weights are shared by every state; a state is the key/value memory of one utterance or one frame,
in which a run writes in place, so a step copies nothing whatever has been said before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.runtime import onnx_session
from s2s.tts.qwen3.frames import LanguageModel
from s2s.tts.qwen3.onnx_decoder import (
    FRAME_GRAPH,
    GRAPH_VERSION,
    HEADS_GRAPH,
    PREDICTOR_GRAPH,
    PROJECTION_GRAPH,
    TALKER_GRAPH,
)
from s2s.tts.qwen3.ports import Floats, Ids, TalkerOutput
from s2s.tts.qwen3.sampling import Draws, Sampling
from s2s.tts.qwen3.spec import DecoderSpec, Spec
from s2s.tts.qwen3.speculation import choose_codes
from s2s.tts.qwen3.tables import CodeVectors, TableEmbeddings, open_tables

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, IOBinding, OrtValue

_KEPT_RUNS = 16
"""Runs of up to this many positions keep what is bound for the next of the same length."""


class OnnxError(RuntimeError):
    """Graphs that cannot be used. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """The language model of one converted checkpoint, and what it was quantised to."""

    language: LanguageModel[OnnxCache, OnnxCache]
    quant: str
    predictor_quant: str


def load(
    folder: Path, spec: Spec, threads: int, guesses: int = 0, *, spin: bool = False
) -> OnnxModel:
    """Open the graphs and tables of ``folder`` (see ``convert``).

    ``threads`` compute each step; ``guesses`` codes are guessed ahead of each predictor pass (see
    ``speculation``). ``spin`` lets threads wait for each other awake during a step: a tenth faster
    where nothing else runs, three times slower where something does. Raises OnnxError or GGUFError
    when a file is missing, damaged, of another version or another checkpoint, or when there is no
    onnxruntime.
    """
    talker, quant = open_talker(folder, spec, threads, spin=spin)
    predictor, predictor_quant = open_predictor(folder, spec, threads, guesses, spin=spin)
    embeddings = TableEmbeddings(open_tables(folder), spec)
    return OnnxModel(LanguageModel(spec, embeddings, talker, predictor), quant, predictor_quant)


def open_talker(
    folder: Path, spec: Spec, threads: int, *, spin: bool = False
) -> tuple[OnnxTalker, str]:
    """The talker of ``folder``, and what it was quantised to. Raises as `load` does."""
    session, quant = _open(folder, TALKER_GRAPH, threads, spin)
    return OnnxTalker(_Stack(session, spec.talker), spec), quant


def open_predictor(
    folder: Path, spec: Spec, threads: int, guesses: int = 0, *, spin: bool = False
) -> tuple[OnnxPredictor, str]:
    """The code predictor of ``folder``, and what it was quantised to. Raises as `load` does."""
    for name in (PREDICTOR_GRAPH, HEADS_GRAPH):
        _check_files(folder, name)  # they are opened when a code is guessed
    frame, quant = _open(folder, FRAME_GRAPH, threads, spin)
    if frame.get_inputs()[0].shape[-1] != spec.predictor.hidden:
        raise OnnxError(f"{folder}: config.json is of another model; convert the checkpoint again")
    projection = None
    if spec.projected:
        projection = _Projection(_open(folder, PROJECTION_GRAPH, threads=1)[0])
    vectors = CodeVectors(open_tables(folder), spec)

    def open_passes() -> _Passes:
        stack = _Stack(_open(folder, PREDICTOR_GRAPH, threads, spin)[0], spec.predictor)
        return _Passes(stack, _Heads(_open(folder, HEADS_GRAPH, threads, spin)[0]), vectors)

    whole = _WholeFrame(frame, spec)
    return OnnxPredictor(spec, whole, open_passes, projection, vectors, guesses), quant


def _check_files(folder: Path, name: str) -> None:
    for file in (folder / f"{name}.onnx", folder / f"{name}.onnx.data"):
        if not file.is_file():
            raise OnnxError(f"{file} is missing; convert the checkpoint")


def _open(
    folder: Path, name: str, threads: int, spin: bool = False
) -> tuple[InferenceSession, str]:
    """A graph and its quantisation."""
    _check_files(folder, name)
    path = folder / f"{name}.onnx"
    try:
        from onnxruntime.capi.onnxruntime_pybind11_state import (
            Fail,
            InvalidArgument,
            InvalidGraph,
            InvalidProtobuf,
            NotImplemented,
            RuntimeException,
        )
    except ImportError:
        raise OnnxError("onnxruntime is not installed: pip install 's2s[qwen3]'") from None
    broken = (Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, RuntimeException)
    try:
        session = onnx_session(path, threads=threads, spin=spin)
    except NotImplemented as error:
        raise OnnxError(
            f"{path} needs a newer onnxruntime: pip install -U onnxruntime ({error})"
        ) from error
    except broken as error:
        raise OnnxError(f"{path} cannot be opened; convert it again ({error})") from error
    marks = session.get_modelmeta().custom_metadata_map
    if marks.get("version") != str(GRAPH_VERSION):
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
    turns: dict[str, Floats]
    end: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(1, np.int32))
    length: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((), np.int32))
    positions: int = 0
    """How many have been fed."""
    passes: int = 0
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
    return OnnxCache(room, caches, turns(room, spec))


class _Stack:
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
        cache.passes += 1
        return run.outputs

    def _bind(self, cache: OnnxCache, count: int) -> _Run:
        vectors = np.zeros((1, count, self._spec.hidden), np.float32)
        inputs = {"vectors": vectors, "end": cache.end, "length": cache.length, **cache.turns}
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


def turns(room: int, spec: DecoderSpec) -> dict[str, Floats]:
    """Cosines and sines of the rotary angles of ``room`` positions: float32 [room, head_dim / 2]
    each. The three position streams of the talker's config are always equal, which is one."""
    half = spec.head_dim // 2
    inverse = spec.rope_theta ** -(np.arange(half, dtype=np.float32) / np.float32(half))
    angles = np.arange(room, dtype=np.float32)[:, None] * inverse.astype(np.float32)
    return {"cos": np.cos(angles), "sin": np.sin(angles)}


class OnnxTalker:
    """The talker port."""

    def __init__(self, stack: _Stack, spec: Spec) -> None:
        self._stack = stack
        self._spec = spec

    def new_state(self, max_positions: int) -> OnnxCache:
        """An empty cache for ``max_positions``; memory is taken as they come."""
        return new_cache(max_positions, self._spec.talker)

    def prefill(self, state: OnnxCache, embeddings: Floats) -> TalkerOutput:
        """Append prompt positions. embeddings: float32 [n, H]. Ids that are neither a code nor
        the end of speech have logits of -inf."""
        outputs = self._stack.feed(state, embeddings)
        known, codes = outputs["logits"].reshape(-1), self._spec.codes
        logits = np.full(self._spec.talker.vocabulary, -np.inf, np.float32)
        logits[:codes] = known[:codes]
        logits[self._spec.ids.eos] = known[codes]
        return TalkerOutput(logits, outputs["hidden"].reshape(-1).copy())

    def step(self, state: OnnxCache, embedding: Floats) -> TalkerOutput:
        """Append one position. embedding: float32 [H]."""
        return self.prefill(state, embedding[None])

    def rewind(self, state: OnnxCache, positions: int) -> None:
        """Forget all but the first ``positions``."""
        state.rewind(positions)


class OnnxPredictor:
    """The code predictor port; each code is predicted by its own head.

    The whole frame is one run, or with ``guesses`` as many as it takes passes (see
    ``speculation``).
    """

    def __init__(
        self,
        spec: Spec,
        whole: _WholeFrame,
        open_passes: Callable[[], _Passes],
        projection: _Projection | None,
        vectors: CodeVectors,
        guesses: int = 0,
    ) -> None:
        self._spec = spec
        self._whole = whole
        self._open_passes = open_passes
        self._passes = open_passes() if guesses else None
        self._projection = projection
        self._vectors = vectors
        self.guesses = guesses

    def new_state(self) -> OnnxCache:
        """A cache of one frame."""
        return new_cache(self._spec.groups, self._spec.predictor)

    def frame(
        self, state: OnnxCache, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> Ids:
        """The other codes of a frame: int64 [G - 1]."""
        if self._projection is not None:
            hidden = self._projection(hidden)
        first = np.stack([hidden, self._vectors(0, code0)])
        if not self.guesses and _WholeFrame.can(sampling):
            return self._whole(state, first, sampling, draws)
        if self._passes is None:
            self._passes = self._open_passes()
        passes = _Frame(self._passes, state, first)
        return choose_codes(passes, self.guesses, sampling, draws)


class _WholeFrame:
    """All passes of a frame in one run, sampling included."""

    def __init__(self, session: InferenceSession, spec: Spec) -> None:
        self._session = session
        self._shape = (spec.groups - 1, spec.codes)
        self._turns = turns(spec.groups, spec.predictor)

    @staticmethod
    def can(sampling: Sampling) -> bool:
        """Whether it can sample that way."""
        return sampling.greedy or sampling.top_p == 1

    def __call__(self, state: OnnxCache, first: Floats, sampling: Sampling, draws: Draws) -> Ids:
        """first: float32 [2, width]; returns int64 [G - 1]. The random numbers are those that one
        pass after another would ask for: the largest ``probability / e`` is the largest of the
        logits minus log e."""
        if state.closed:
            raise ValueError("this state is closed: make a new one")
        groups, codes = self._shape
        temperature, top_k = sampling.temperature, sampling.top_k or codes
        if sampling.greedy:
            noise, temperature, top_k = np.zeros(self._shape, np.float32), 1.0, 1
        else:
            drawn = np.stack([draws.exponential(codes) for _ in range(groups)])
            noise = -np.log(np.maximum(drawn, np.finfo(np.float32).tiny))
        feeds = {
            "first": first[None],
            "temperature": np.array(temperature, np.float32),
            "top_k": np.array([min(top_k, codes)], np.int64),
            "noise": noise,
            **self._turns,
        }
        (found,) = self._session.run(None, feeds)
        state.passes += groups
        return np.asarray(found, np.int64)


@dataclass(frozen=True, slots=True)
class _Passes:
    """What a frame takes that is made pass by pass."""

    stack: _Stack
    heads: _Heads
    vectors: CodeVectors


class _Frame:
    """The passes of one frame (``speculation.Passes``)."""

    def __init__(self, passes: _Passes, cache: OnnxCache, first: Floats) -> None:
        self.groups = passes.vectors.groups - 1
        self._passes = passes
        self._cache = cache
        self._first = first

    def start(self) -> Floats:
        """Feed hidden vector and first code: float32 [width]."""
        self._cache.rewind(0)
        return self._passes.stack.feed(self._cache, self._first)["hidden"][0, -1].copy()

    def feed(self, group: int, codes: list[int]) -> Floats:
        """Feed codes of ``group`` on: float32 [codes, width]."""
        rows = [self._passes.vectors(group + 1 + at, code) for at, code in enumerate(codes)]
        return self._passes.stack.feed(self._cache, np.stack(rows))["hidden"][0].copy()

    def keep(self, codes: int) -> None:
        """Forget all but the first ``codes`` codes fed."""
        self._cache.rewind(len(self._first) + codes)

    def logits(self, group: int, hidden: Floats) -> Floats:
        """Head ``group``: float32 [B]."""
        return self._passes.heads(group, hidden)


class _Heads:
    """The predictor's heads, one a call."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session

    def __call__(self, group: int, hidden: Floats) -> Floats:
        """hidden: float32 [width]; returns float32 [B]."""
        feeds = {"vector": hidden[None, None], "group": np.array(group, np.int64)}
        (logits,) = self._session.run(None, feeds)
        return np.asarray(logits, np.float32).reshape(-1)


class _Projection:
    """The talker's hidden vector as the predictor is fed it."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session

    def __call__(self, hidden: Floats) -> Floats:
        """hidden: float32 [H]; returns float32 [width]."""
        (projected,) = self._session.run(None, {"vector": hidden[None, None]})
        return np.asarray(projected, np.float32).reshape(-1)
