"""Talker and code predictor in graphs of fixed shapes, each part on a provider of its own.

Weights are shared by every state; a state is the key/value memory of one utterance or one frame,
in this program's memory: a run reads it whole and gives back what is new of it, which is written
in its place here. So a state says nothing of what computes it, and going back is a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.checkpoint.tables import CodeVectors, open_tables
from s2s.tts.qwen3.errors import OnnxError
from s2s.tts.qwen3.fixed.feeds import cache_mask, talker_output
from s2s.tts.qwen3.fixed.predictor_graph import (
    FRAME_GRAPH,
    HEADS_GRAPH,
    PREDICTOR_GRAPH,
    PROJECTION_GRAPH,
    predictor_slots,
)
from s2s.tts.qwen3.fixed.providers import OpenedGraphs, Provider
from s2s.tts.qwen3.fixed.talker_graph import (
    BLOCK,
    FIXED_GRAPHS_VERSION,
    KEY,
    NEW,
    cache_shapes,
    capacities,
    talker_graph_name,
)
from s2s.tts.qwen3.interfaces import Floats, Ids, TalkerOutput
from s2s.tts.qwen3.onnx.language import frame_noise
from s2s.tts.qwen3.onnx.session import rope
from s2s.tts.qwen3.sampling import Draws, Sampling
from s2s.tts.qwen3.sampling_speculative import (
    AcceptAtRate,
    Verify,
    accept_or_resample,
    choose_codes,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


@dataclass(frozen=True, slots=True)
class OpenedPart:
    """What a part is quantised to, and where it is computed."""

    quant: str
    graphs: OpenedGraphs


def open_talker(
    folder: Path, spec: Spec, provider: Provider, threads: int
) -> tuple[FixedTalker, OpenedPart]:
    """The talker of a converted checkpoint. Raises OnnxError or GGUFError when a file is missing,
    damaged, of another version or another checkpoint, or when there is no onnxruntime."""
    graphs = OpenedGraphs("talker", folder, provider, threads)
    first = graphs.session(talker_graph_name(capacities(spec)[0], 1), FIXED_GRAPHS_VERSION)
    quant = _checked(folder, first, spec.talker.hidden)
    return FixedTalker(graphs, spec), OpenedPart(quant, graphs)


def open_predictor(
    folder: Path, spec: Spec, provider: Provider, threads: int, draft_tokens: int = 0
) -> tuple[FixedPredictor, OpenedPart]:
    """The code predictor of a converted checkpoint. Raises as `open_talker` does."""
    graphs = OpenedGraphs("code predictor", folder, provider, threads)
    first = graphs.session(FRAME_GRAPH, FIXED_GRAPHS_VERSION)
    quant = _checked(folder, first, spec.talker.hidden)
    vectors = CodeVectors(open_tables(folder), spec)
    return FixedPredictor(graphs, spec, vectors, draft_tokens), OpenedPart(quant, graphs)


def _checked(folder: Path, session: InferenceSession, width: int) -> str:
    """The quantisation of a graph. Raises OnnxError or GGUFError for one of another checkpoint."""
    marks = session.get_modelmeta().custom_metadata_map
    if marks.get("source") != open_tables(folder).metadata.get("s2s.source"):
        raise OnnxError(f"{folder}: its files come from different checkpoints; convert again")
    if session.get_inputs()[0].shape[-1] != width:
        raise OnnxError(f"{folder}: config.json is of another model; convert the checkpoint again")
    return marks.get("quant", "")


@dataclass(slots=True)
class FixedCache:
    """Keys and values of one utterance's talker, or of one frame: by the names of the graphs'
    inputs, with ``slots`` slots of which ``room`` may be used."""

    room: int
    slots: int
    caches: dict[str, Floats]
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


def new_cache(room: int, slots: int, spec: DecoderSpec) -> FixedCache:
    """An empty cache."""
    shapes = cache_shapes(spec, slots)
    return FixedCache(
        room, slots, {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    )


class FixedStackRun:
    """Runs of a stack's graphs over caches."""

    def __init__(self, spec: DecoderSpec, positions: int) -> None:
        """positions: the most that there are."""
        self._spec = spec
        self._rope = rope(positions, spec)

    def feed(
        self, session: InferenceSession, cache: FixedCache, rows: Floats, n: int
    ) -> dict[str, Floats]:
        """Append positions by a graph of n; what it gives besides. rows: float32 [up to n, hidden].

        Rows that are missing are computed as zeros, and forgotten.
        """
        count, start = len(rows), cache.positions
        padded = np.zeros((n, self._spec.hidden), np.float32)
        padded[:count] = rows
        places = np.minimum(np.arange(start, start + n), len(self._rope["cos"]) - 1)
        feeds: dict[str, np.ndarray] = {
            "vectors": padded,
            "mask": cache_mask(start, cache.slots, n),
            **{name: table[places] for name, table in self._rope.items()},
            **cache.caches,
        }
        if n > 1:
            feeds["last"] = np.array([count - 1], np.int32)
        names = [item.name for item in session.get_outputs()]
        found = dict(zip(names, session.run(names, feeds), strict=True))
        for name, array in cache.caches.items():
            new, stop = found.pop(NEW + name), start + count
            if name.startswith(KEY):
                array[:, :, start:stop] = new[:, :, :count]
            else:
                array[:, start:stop] = new[:, :count]
        cache.positions += count
        cache.forward_passes += 1
        return found

    def check(self, cache: FixedCache, rows: Floats) -> None:
        """Raise ValueError when the cache is closed or has no room for the rows."""
        if cache.closed:
            raise ValueError("this state is closed: make a new one")
        if rows.ndim != 2 or rows.shape[1] != self._spec.hidden or not len(rows):
            raise ValueError(f"[n, {self._spec.hidden}] wanted, got {list(rows.shape)}")
        if cache.positions + len(rows) > cache.room:
            raise ValueError(
                f"no room for {len(rows)} more: {cache.positions} of {cache.room} taken"
            )


class FixedTalker:
    """The talker port."""

    def __init__(self, graphs: OpenedGraphs, spec: Spec) -> None:
        self._graphs = graphs
        self._spec = spec
        self._capacities = capacities(spec)
        self._run = FixedStackRun(spec.talker, self._capacities[-1])

    def new_state(self, max_positions: int) -> FixedCache:
        """An empty cache of the fewest slots that are enough. Raises ValueError when there is no
        graph of as many."""
        if max_positions < 1:
            raise ValueError(
                f"max_positions is {max_positions}; a cache needs room for one at least"
            )
        for slots in self._capacities:
            if slots >= max_positions:
                return new_cache(max_positions, slots, self._spec.talker)
        raise ValueError(
            f"{max_positions} positions: graphs of fixed shapes have at most "
            f"{self._capacities[-1]}; speak less at once, or take another core"
        )

    def prefill(self, state: FixedCache, embeddings: Floats) -> TalkerOutput:
        """Append prompt positions, a block at a time. embeddings: float32 [n, H]. Ids that are
        neither a code nor the end of speech have logits of -inf."""
        self._run.check(state, embeddings)
        found: dict[str, Floats] = {}
        for start in range(0, len(embeddings), BLOCK):
            rows = embeddings[start : start + BLOCK]
            n = 1 if len(rows) == 1 else BLOCK
            name = talker_graph_name(state.slots, n)
            session = self._graphs.session(name, FIXED_GRAPHS_VERSION)
            found = self._run.feed(session, state, rows, n)
        return talker_output(found, self._spec)

    def step(self, state: FixedCache, embedding: Floats) -> TalkerOutput:
        """Append one position. embedding: float32 [H]."""
        return self.prefill(state, embedding[None])

    def rewind(self, state: FixedCache, positions: int) -> None:
        """Forget all but the first ``positions``."""
        state.rewind(positions)


class FixedPredictor:
    """The code predictor port: a frame is one run, or with ``draft_tokens`` or a top-p as many as
    it takes passes."""

    def __init__(
        self, graphs: OpenedGraphs, spec: Spec, vectors: CodeVectors, draft_tokens: int = 0
    ) -> None:
        self._graphs = graphs
        self._spec = spec
        self._vectors = vectors
        self._run = FixedStackRun(spec.predictor, predictor_slots(spec))
        self.draft_tokens = draft_tokens
        self._verify: Verify = accept_or_resample

    def accept_at_rate(self, rate: float) -> None:
        """For benchmarks of random weights: from the next frame on draft tokens are accepted with
        this probability, see ``AcceptAtRate``."""
        self._verify = AcceptAtRate(rate)

    def new_state(self) -> FixedCache:
        """A cache of one frame."""
        slots = predictor_slots(self._spec)
        return new_cache(slots, slots, self._spec.predictor)

    def frame(
        self, state: FixedCache, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> Ids:
        """The other codes of a frame: int64 [G - 1]."""
        if state.closed:
            raise ValueError("this state is closed: make a new one")
        first = self._vectors(0, code0)
        if not self.draft_tokens and (sampling.greedy or sampling.top_p == 1):
            return self._whole(state, hidden, first, sampling, draws)
        passes = _FixedFrame(self._graphs, self._run, state, self._spec, self._vectors)
        passes.begin(hidden, first)
        return choose_codes(passes, self.draft_tokens, sampling, draws, self._verify)

    def _whole(
        self, state: FixedCache, hidden: Floats, first: Floats, sampling: Sampling, draws: Draws
    ) -> Ids:
        shape = self._spec.groups - 1, self._spec.codes
        noise = frame_noise(shape, sampling, draws)
        feeds = {
            "hidden": hidden[None],
            "first": first[None],
            "temperature": np.array([noise.temperature], np.float32),
            "top_k": np.array([noise.top_k], np.int32),
            "noise": noise.added,
        }
        session = self._graphs.session(FRAME_GRAPH, FIXED_GRAPHS_VERSION)
        (codes,) = session.run(None, feeds)
        state.forward_passes += shape[0]
        return np.asarray(codes, np.int64)


class _FixedFrame:
    """The passes of one frame (``ForwardPasses``)."""

    def __init__(
        self,
        graphs: OpenedGraphs,
        run: FixedStackRun,
        cache: FixedCache,
        spec: Spec,
        vectors: CodeVectors,
    ) -> None:
        self.groups = spec.groups - 1
        self._graphs = graphs
        self._run = run
        self._cache = cache
        self._projected = spec.projected
        self._vectors = vectors
        self._first = np.empty((0, spec.predictor.hidden), np.float32)

    def begin(self, hidden: Floats, first: Floats) -> None:
        """What the frame starts from: the talker's hidden vector [H], the first code's [width]."""
        if self._projected:
            (hidden,) = self._session(PROJECTION_GRAPH).run(None, {"vector": hidden[None]})[0]
        self._first = np.stack([hidden, first])

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
        feeds = {"vector": hidden[None], "group": np.array([group], np.int32)}
        (logits,) = self._session(HEADS_GRAPH).run(None, feeds)
        return np.asarray(logits, np.float32).reshape(-1)

    def _fed(self, rows: Floats) -> Floats:
        session = self._session(PREDICTOR_GRAPH)
        found = [self._run.feed(session, self._cache, row[None], 1)["hidden"][0] for row in rows]
        return np.stack(found)

    def _session(self, name: str) -> InferenceSession:
        return self._graphs.session(name, FIXED_GRAPHS_VERSION)
