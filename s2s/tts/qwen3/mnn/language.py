"""Talker and code predictor on MNN: the files of a checkpoint converted to a mix of ``quant``.

Weights are shared by every state; a state is the key/value memory of one utterance or one frame,
in this program's memory: a run is given all of it and gives back what is new, which is written in
its place here. So a state says nothing of what computes it, and going back is a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.record import read_record
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.checkpoint.tables import CodeVectors, TableEmbeddings, open_tables
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.errors import MnnError
from s2s.tts.qwen3.fixed.feeds import cache_mask, talker_output
from s2s.tts.qwen3.interfaces import Floats, Ids, TalkerOutput
from s2s.tts.qwen3.mnn.devices import CPU, MnnDevice, device_named
from s2s.tts.qwen3.mnn.language_graph import (
    MNN_GRAPHS_VERSION,
    PREDICTOR_GRAPH,
    PROJECTION_GRAPH,
    TALKER_GRAPH,
    head_graph,
)
from s2s.tts.qwen3.mnn.session import Fed, MnnGraph
from s2s.tts.qwen3.mnn.transformer import NEW
from s2s.tts.qwen3.sampling import Draws, Sampling
from s2s.tts.qwen3.sampling_speculative import (
    AcceptAtRate,
    Verify,
    accept_or_resample,
    choose_codes,
)

SLOTS = 128
"""By so many the caches grow: each run is given them whole, and for each number of slots MNN plans
its graph anew."""


@dataclass(frozen=True, slots=True)
class MnnModel:
    """The language model of one converted checkpoint, and what it was quantised to."""

    language: LanguageModel[MnnCache, MnnCache]
    quant: str
    predictor_quant: str


def load(
    folder: Path, spec: Spec, threads: int = 1, draft_tokens: int = 0, device: str = CPU
) -> MnnModel:
    """Open the files and tables of ``folder`` (see ``convert``) on a back end (see
    `device_named`). Raises as `open_talker` does."""
    found = device_named(device)
    talker, quant = open_talker(folder, spec, found, threads)
    predictor, predictor_quant = open_predictor(folder, spec, found, threads, draft_tokens)
    embeddings = TableEmbeddings(open_tables(folder), spec)
    return MnnModel(LanguageModel(spec, embeddings, talker, predictor), quant, predictor_quant)


def open_talker(folder: Path, spec: Spec, device: MnnDevice, threads: int) -> tuple[MnnTalker, str]:
    """The talker of a converted checkpoint, and what it is quantised to. Raises MnnError or
    GGUFError when a file is missing, damaged, of another version or another checkpoint, or when
    there is no MNN."""
    quant, _ = _checked(folder)
    graph = MnnGraph(folder / f"{TALKER_GRAPH}.mnn", device, threads)
    return MnnTalker(graph, spec), quant


def open_predictor(
    folder: Path, spec: Spec, device: MnnDevice, threads: int, draft_tokens: int = 0
) -> tuple[MnnPredictor, str]:
    """The code predictor of a converted checkpoint, likewise. Raises as `open_talker` does."""
    _, quant = _checked(folder)

    def opened(name: str) -> MnnGraph:
        return MnnGraph(folder / f"{name}.mnn", device, threads)

    graphs = PredictorGraphs(
        opened(PREDICTOR_GRAPH),
        tuple(opened(head_graph(group)) for group in range(spec.groups - 1)),
        opened(PROJECTION_GRAPH) if spec.projected else None,
    )
    vectors = CodeVectors(open_tables(folder), spec)
    return MnnPredictor(graphs, spec, vectors, draft_tokens), quant


def _checked(folder: Path) -> tuple[str, str]:
    """The quantisations of talker and predictor. Raises MnnError or GGUFError for files of another
    version or another checkpoint."""
    record = read_record(folder)
    if record is None or record.graphs != MNN_GRAPHS_VERSION:
        raise MnnError(f"{folder} is of another version of this program; convert it again")
    if record.source != open_tables(folder).metadata.get("s2s.source"):
        raise MnnError(f"{folder}: its files come from different checkpoints; convert again")
    return record.quant, record.predictor_quant


@dataclass(slots=True)
class MnnCache:
    """Keys [kv heads, head_dim, slots] and values [kv heads, slots, head_dim] of one utterance's
    talker, or of one frame, by their names; of the slots, which grow, ``room`` may be used."""

    room: int
    caches: dict[str, Floats]
    slots: int
    positions: int = 0
    """How many have been fed."""
    forward_passes: int = 0
    """Forward passes made."""
    closed: bool = False

    def close(self) -> None:
        """Drop the memory; the state cannot be used any more."""
        self.closed = True
        self.caches = {}

    def rewind(self, positions: int) -> None:
        """Forget all but the first ``positions``. Raises ValueError when there are fewer."""
        if not 0 <= positions <= self.positions:
            raise ValueError(f"cannot go back to {positions} positions, there are {self.positions}")
        self.positions = positions


class MnnStackRun:
    """Runs of a stack's graph over caches."""

    def __init__(self, graph: MnnGraph, spec: DecoderSpec) -> None:
        self._graph = graph
        self._spec = spec
        half = spec.head_dim // 2
        inverse = spec.rope_theta ** -(np.arange(half, dtype=np.float32) / np.float32(half))
        self._inverse = inverse.astype(np.float32)

    def new_cache(self, room: int) -> MnnCache:
        """An empty cache; memory is taken as positions come."""
        if room < 1:
            raise ValueError(f"max_positions is {room}; a cache needs room for one at least")
        slots = min(room, SLOTS)
        return MnnCache(room, self._zeros(slots), slots)

    def feed(self, cache: MnnCache, rows: Floats) -> dict[str, Floats]:
        """Append positions; what the graph gives besides. rows: float32 [n, hidden].

        Raises ValueError when the cache is closed or has no room for n more.
        """
        self._check(cache, rows)
        count, start = len(rows), cache.positions
        stop = start + count
        self._grow(cache, stop)
        angles = np.arange(start, stop, dtype=np.float32)[:, None] * self._inverse
        feeds: dict[str, Fed] = {
            "vectors": rows,
            "cos": np.cos(angles),
            "sin": np.sin(angles),
            "mask": cache_mask(start, cache.slots, count),
            **cache.caches,
        }
        found = self._graph.run(feeds)
        for name, array in cache.caches.items():
            new = found.pop(NEW + name)
            if name.startswith("key"):
                array[:, :, start:stop] = new
            else:
                array[:, start:stop] = new
        cache.positions = stop
        cache.forward_passes += 1
        return found

    def _check(self, cache: MnnCache, rows: Floats) -> None:
        if cache.closed:
            raise ValueError("this state is closed: make a new one")
        if rows.ndim != 2 or rows.shape[1] != self._spec.hidden or not len(rows):
            raise ValueError(f"[n, {self._spec.hidden}] wanted, got {list(rows.shape)}")
        if cache.positions + len(rows) > cache.room:
            raise ValueError(
                f"no room for {len(rows)} more: {cache.positions} of {cache.room} taken"
            )

    def _grow(self, cache: MnnCache, positions: int) -> None:
        """Slots for so many positions at least, and in steps, up to all that there may be."""
        if positions <= cache.slots:
            return
        slots = min(cache.room, -(-positions // SLOTS) * SLOTS)
        wider = self._zeros(slots)
        for name, array in cache.caches.items():
            if name.startswith("key"):
                wider[name][:, :, : cache.slots] = array
            else:
                wider[name][:, : cache.slots] = array
        cache.caches, cache.slots = wider, slots

    def _zeros(self, slots: int) -> dict[str, Floats]:
        spec = self._spec
        shapes = {
            "key": (spec.kv_heads, spec.head_dim, slots),
            "value": (spec.kv_heads, slots, spec.head_dim),
        }
        return {
            f"{part}.{layer}": np.zeros(shape, np.float32)
            for layer in range(spec.layers)
            for part, shape in shapes.items()
        }


class MnnTalker:
    """The talker port."""

    def __init__(self, graph: MnnGraph, spec: Spec) -> None:
        self._run = MnnStackRun(graph, spec.talker)
        self._spec = spec

    def new_state(self, max_positions: int) -> MnnCache:
        """An empty cache for ``max_positions``; memory is taken as they come."""
        return self._run.new_cache(max_positions)

    def prefill(self, state: MnnCache, embeddings: Floats) -> TalkerOutput:
        """Append prompt positions. embeddings: float32 [n, H]. Ids that are neither a code nor
        the end of speech have logits of -inf."""
        found = self._run.feed(state, embeddings)
        return talker_output(found, self._spec)

    def step(self, state: MnnCache, embedding: Floats) -> TalkerOutput:
        """Append one position. embedding: float32 [H]."""
        return self.prefill(state, embedding[None])

    def rewind(self, state: MnnCache, positions: int) -> None:
        """Forget all but the first ``positions``."""
        state.rewind(positions)


@dataclass(frozen=True, slots=True)
class PredictorGraphs:
    """What a frame takes: the stack, a head for each group, and the talker's vector made narrow
    where it is wider."""

    stack: MnnGraph
    heads: tuple[MnnGraph, ...]
    projection: MnnGraph | None


class MnnPredictor:
    """The code predictor port; each code is predicted by its own head, a pass at a time."""

    def __init__(
        self, graphs: PredictorGraphs, spec: Spec, vectors: CodeVectors, draft_tokens: int = 0
    ) -> None:
        self._graphs = graphs
        self._spec = spec
        self._vectors = vectors
        self._run = MnnStackRun(graphs.stack, spec.predictor)
        self.draft_tokens = draft_tokens
        self._verify: Verify = accept_or_resample

    def accept_at_rate(self, rate: float) -> None:
        """For benchmarks of random weights: from the next frame on draft tokens are accepted with
        this probability, see ``AcceptAtRate``."""
        self._verify = AcceptAtRate(rate)

    def new_state(self) -> MnnCache:
        """A cache of one frame."""
        return self._run.new_cache(self._spec.groups + 1)

    def frame(
        self, state: MnnCache, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> Ids:
        """The other codes of a frame: int64 [G - 1]."""
        if state.closed:
            raise ValueError("this state is closed: make a new one")
        if self._graphs.projection is not None:
            hidden = self._graphs.projection.run({"vector": hidden[None]})["projected"][0]
        first = np.stack([hidden, self._vectors(0, code0)])
        passes = _Frame(self._graphs, self._run, state, self._vectors, first)
        return choose_codes(passes, self.draft_tokens, sampling, draws, self._verify)


class _Frame:
    """The passes of one frame (``ForwardPasses``). A position a run, so that there is one plan."""

    def __init__(
        self,
        graphs: PredictorGraphs,
        run: MnnStackRun,
        cache: MnnCache,
        vectors: CodeVectors,
        first: Floats,
    ) -> None:
        """first: float32 [2, width], the talker's hidden vector and the first code's."""
        self.groups = len(graphs.heads)
        self._heads = graphs.heads
        self._run = run
        self._cache = cache
        self._vectors = vectors
        self._first = first

    def start(self) -> Floats:
        """Feed hidden vector and first code: float32 [width]."""
        self._cache.rewind(0)
        return self._fed(self._first)[-1]

    def feed(self, group: int, codes: list[int]) -> Floats:
        """Feed codes of ``group`` on: float32 [codes, width]."""
        rows = [self._vectors(group + 1 + at, code) for at, code in enumerate(codes)]
        return self._fed(np.stack(rows))

    def keep(self, codes: int) -> None:
        """Forget all but the first ``codes`` codes fed."""
        self._cache.rewind(len(self._first) + codes)

    def logits(self, group: int, hidden: Floats) -> Floats:
        """Head ``group``: float32 [B]."""
        return self._heads[group].run({"vector": hidden[None]})["logits"].reshape(-1)

    def _fed(self, rows: Floats) -> Floats:
        found = [self._run.feed(self._cache, row[None])["hidden"][0] for row in rows]
        return np.stack(found)
