"""Talker and code predictor on ONNX Runtime, CPU: the graphs of a checkpoint converted to a mix of
``onnx_quant``.

Weights are shared by every state; a state is the key/value memory of one utterance or one frame,
in which a run writes in place, so a step copies nothing whatever has been said before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.checkpoint.tables import CodeVectors, TableEmbeddings, open_tables
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.errors import OnnxError
from s2s.tts.qwen3.interfaces import Floats, Ids, TalkerOutput
from s2s.tts.qwen3.onnx.language_graph import (
    FRAME_GRAPH,
    HEADS_GRAPH,
    PREDICTOR_GRAPH,
    PROJECTION_GRAPH,
    TALKER_GRAPH,
)
from s2s.tts.qwen3.onnx.session import (
    OnnxCache,
    StackGraph,
    check_files,
    new_cache,
    open_graph,
    rope,
)
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
class OnnxModel:
    """The language model of one converted checkpoint, and what it was quantised to."""

    language: LanguageModel[OnnxCache, OnnxCache]
    quant: str
    predictor_quant: str


def load(
    folder: Path, spec: Spec, threads: int, draft_tokens: int = 0, *, spin: bool = False
) -> OnnxModel:
    """Open the graphs and tables of ``folder`` (see ``convert``).

    ``threads`` compute each step; ``draft_tokens`` codes are drafted for each predictor pass (see
    ``sampling_speculative``). ``spin`` lets threads wait for each other awake during a step: a
    tenth faster where nothing else runs, three times slower where something does. Raises OnnxError
    or GGUFError when a file is missing, damaged, of another version or another checkpoint, or when
    there is no onnxruntime.
    """
    talker, quant = open_talker(folder, spec, threads, spin=spin)
    predictor, predictor_quant = open_predictor(folder, spec, threads, draft_tokens, spin=spin)
    embeddings = TableEmbeddings(open_tables(folder), spec)
    return OnnxModel(LanguageModel(spec, embeddings, talker, predictor), quant, predictor_quant)


def open_talker(
    folder: Path, spec: Spec, threads: int, *, spin: bool = False
) -> tuple[OnnxTalker, str]:
    """The talker of ``folder``, and what it was quantised to. Raises as `load` does."""
    session, quant = open_graph(folder, TALKER_GRAPH, threads, spin)
    return OnnxTalker(StackGraph(session, spec.talker), spec), quant


def open_predictor(
    folder: Path, spec: Spec, threads: int, draft_tokens: int = 0, *, spin: bool = False
) -> tuple[OnnxPredictor, str]:
    """The code predictor of ``folder``, and what it was quantised to. Raises as `load` does."""
    for name in (PREDICTOR_GRAPH, HEADS_GRAPH):
        check_files(folder, name)  # they are opened with the first draft token
    frame, quant = open_graph(folder, FRAME_GRAPH, threads, spin)
    if frame.get_inputs()[0].shape[-1] != spec.predictor.hidden:
        raise OnnxError(f"{folder}: config.json is of another model; convert the checkpoint again")
    projection = None
    if spec.projected:
        projection = _Projection(open_graph(folder, PROJECTION_GRAPH, threads=1)[0])
    vectors = CodeVectors(open_tables(folder), spec)

    def open_passes() -> _Passes:
        stack = StackGraph(open_graph(folder, PREDICTOR_GRAPH, threads, spin)[0], spec.predictor)
        return _Passes(stack, _Heads(open_graph(folder, HEADS_GRAPH, threads, spin)[0]), vectors)

    whole = _WholeFrame(frame, spec)
    return OnnxPredictor(spec, whole, open_passes, projection, vectors, draft_tokens), quant


class OnnxTalker:
    """The talker port."""

    def __init__(self, stack: StackGraph, spec: Spec) -> None:
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

    The whole frame is one run, or with ``draft_tokens`` as many as it takes passes (see
    ``sampling_speculative``).
    """

    def __init__(
        self,
        spec: Spec,
        whole: _WholeFrame,
        open_passes: Callable[[], _Passes],
        projection: _Projection | None,
        vectors: CodeVectors,
        draft_tokens: int = 0,
    ) -> None:
        self._spec = spec
        self._whole = whole
        self._open_passes = open_passes
        self._passes = open_passes() if draft_tokens else None
        self._projection = projection
        self._vectors = vectors
        self.draft_tokens = draft_tokens
        self._verify: Verify = accept_or_resample

    def accept_at_rate(self, rate: float) -> None:
        """For benchmarks of random weights: from the next frame on draft tokens are accepted with
        this probability, see ``AcceptAtRate``."""
        self._verify = AcceptAtRate(rate)

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
        if not self.draft_tokens and _WholeFrame.can(sampling):
            return self._whole(state, first, sampling, draws)
        if self._passes is None:
            self._passes = self._open_passes()
        passes = _Frame(self._passes, state, first)
        return choose_codes(passes, self.draft_tokens, sampling, draws, self._verify)


@dataclass(frozen=True, slots=True)
class FrameNoise:
    """How a graph of a whole frame is to choose: the largest of the ``top_k`` best logits over
    ``temperature`` with ``added`` to them, float32 [G - 1, B]."""

    added: Floats
    temperature: float
    top_k: int


def frame_noise(shape: tuple[int, int], sampling: Sampling, draws: Draws) -> FrameNoise:
    """What makes a frame's choice that of the sampling, which has no top-p. shape: [G - 1, B].

    The random numbers are those that one pass after another would ask for: the largest
    ``probability / e`` is the largest of the logits minus log e.
    """
    groups, codes = shape
    if sampling.greedy:
        return FrameNoise(np.zeros(shape, np.float32), 1.0, 1)
    drawn = np.stack([draws.exponential(codes) for _ in range(groups)])
    noise = -np.log(np.maximum(drawn, np.finfo(np.float32).tiny))
    return FrameNoise(noise, sampling.temperature, min(sampling.top_k or codes, codes))


class _WholeFrame:
    """All passes of a frame in one run, sampling included."""

    def __init__(self, session: InferenceSession, spec: Spec) -> None:
        self._session = session
        self._shape = (spec.groups - 1, spec.codes)
        self._rope = rope(spec.groups, spec.predictor)

    @staticmethod
    def can(sampling: Sampling) -> bool:
        """Whether it can sample that way."""
        return sampling.greedy or sampling.top_p == 1

    def __call__(self, state: OnnxCache, first: Floats, sampling: Sampling, draws: Draws) -> Ids:
        """first: float32 [2, width]; returns int64 [G - 1]."""
        if state.closed:
            raise ValueError("this state is closed: make a new one")
        noise = frame_noise(self._shape, sampling, draws)
        feeds = {
            "first": first[None],
            "temperature": np.array(noise.temperature, np.float32),
            "top_k": np.array([noise.top_k], np.int64),
            "noise": noise.added,
            **self._rope,
        }
        (found,) = self._session.run(None, feeds)
        state.forward_passes += self._shape[0]
        return np.asarray(found, np.int64)


@dataclass(frozen=True, slots=True)
class _Passes:
    """What a frame takes that is made pass by pass."""

    stack: StackGraph
    heads: _Heads
    vectors: CodeVectors


class _Frame:
    """The passes of one frame (``ForwardPasses``)."""

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
