"""Talker and code predictor on MLX: the files of a checkpoint converted to a mix of ``quant``.

Weights are shared by every state; a state is the key/value memory of one utterance or one frame.
All that computes runs in the one thread of `mlx_thread`, a step at a time: an answer never keeps
the graphics processor from another for longer than that, and a state may be passed from thread to
thread. What was done otherwise elsewhere: docs/decisions/qwen3-mlx-core.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.system.mlx_thread import mlx_thread
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.checkpoint.tables import CodeVectors, TableEmbeddings, open_tables
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.interfaces import Floats, Ids, TalkerOutput
from s2s.tts.qwen3.mlx.transformer import Caches, MlxFile, MlxStack, Product, to_mlx
from s2s.tts.qwen3.mlx.weights import (
    PREDICTOR_FILE,
    TALKER_FILE,
    open_stored,
    predictor_shapes,
    talker_shapes,
)
from s2s.tts.qwen3.reference import PREDICTOR_NAME, TALKER_NAME
from s2s.tts.qwen3.sampling import Draws, Sampling
from s2s.tts.qwen3.sampling_speculative import (
    AcceptAtRate,
    Verify,
    accept_or_resample,
    choose_codes,
)

if TYPE_CHECKING:
    from mlx.core import array

_STEP = 256
"""Positions by which a talker's memory grows."""
_PREFIX = "talker.code_predictor"
_SMALLEST = np.finfo(np.float32).tiny


@dataclass(frozen=True, slots=True)
class MlxModel:
    """The language model of one converted checkpoint, and what it was quantised to."""

    language: LanguageModel[MlxTalkerState, MlxPredictorState]
    quant: str
    predictor_quant: str


@dataclass(frozen=True, slots=True)
class MlxManner:
    """How is computed, whatever the weights are."""

    wide: bool
    """In float32, also what is stored in less: MLX's products on a processor add up in the type
    that they multiply in, those on a graphics processor in float32 in any case."""
    compiled: bool
    """A frame of codes is one compiled function, which on a processor needs a compiler."""


def usual_manner() -> MlxManner:
    """That of the device that MLX computes on. In the thread of MLX."""
    import mlx.core as mx

    graphics = mx.default_device() == mx.Device(mx.gpu)
    return MlxManner(wide=not graphics, compiled=graphics)


def load(
    folder: Path, spec: Spec, draft_tokens: int = 0, manner: MlxManner | None = None
) -> MlxModel:
    """Open the files and tables of ``folder`` (see ``convert``).

    ``draft_tokens`` codes are drafted for each predictor pass (see ``sampling_speculative``).
    Raises CheckpointError or GGUFError when a file is missing, damaged, of another version or
    another checkpoint.
    """
    talker, quant = open_talker(folder, spec, manner)
    predictor, predictor_quant = open_predictor(folder, spec, draft_tokens, manner)
    embeddings = TableEmbeddings(open_tables(folder), spec)
    return MlxModel(LanguageModel(spec, embeddings, talker, predictor), quant, predictor_quant)


def open_talker(folder: Path, spec: Spec, manner: MlxManner | None = None) -> tuple[MlxTalker, str]:
    """The talker of ``folder``, and what it was quantised to. Raises as `load` does."""
    weights, quant = open_stored(folder, TALKER_FILE, talker_shapes(spec))
    return mlx_thread().call(lambda: MlxTalker(weights, spec, manner or usual_manner())), quant


def open_predictor(
    folder: Path, spec: Spec, draft_tokens: int = 0, manner: MlxManner | None = None
) -> tuple[MlxPredictor, str]:
    """The code predictor of ``folder``, and what it was quantised to. Raises as `load` does."""
    weights, quant = open_stored(folder, PREDICTOR_FILE, predictor_shapes(spec))
    vectors = CodeVectors(open_tables(folder), spec)

    def made() -> MlxPredictor:
        how = manner or usual_manner()
        frame = MlxFrame(weights, vectors, spec, wide=how.wide)
        return MlxPredictor(frame, draft_tokens, compiled=how.compiled)

    return mlx_thread().call(made), quant


@dataclass(slots=True)
class MlxTalkerState:
    """One utterance's key/value cache."""

    max_positions: int
    caches: Caches | None
    """None once closed."""
    room: int
    positions: int = 0

    def close(self) -> None:
        """Drop the cache."""
        self.caches = None


class MlxTalker:
    """The talker port."""

    def __init__(self, weights: Checkpoint, spec: Spec, manner: MlxManner) -> None:
        """In the thread of MLX."""
        import mlx.core as mx

        file = MlxFile(weights, wide=manner.wide)
        self._spec = spec
        self._stack = MlxStack(file, TALKER_NAME, spec.talker)
        self._head = file.matrix("talker.codec_head")
        mx.eval(file.made)

    def new_state(self, max_positions: int) -> MlxTalkerState:
        """An empty cache for ``max_positions``; memory is taken as they come."""
        if max_positions < 1:
            raise ValueError(f"max_positions is {max_positions}")
        return MlxTalkerState(max_positions, [], 0)

    def prefill(self, state: MlxTalkerState, embeddings: Floats) -> TalkerOutput:
        """Append prompt positions. embeddings: float32 [n, H]."""
        width = self._spec.talker.hidden
        if embeddings.ndim != 2 or not len(embeddings) or embeddings.shape[1] != width:
            raise ValueError(f"vectors of shape {embeddings.shape}; wanted [n, {width}]")
        if state.caches is None:
            raise ValueError("this state is closed: make a new one")
        stop = state.positions + len(embeddings)
        if stop > state.max_positions:
            raise ValueError(f"no room for {stop} positions, the state has {state.max_positions}")
        return mlx_thread().call(lambda: self._feed(state, embeddings, stop))

    def step(self, state: MlxTalkerState, embedding: Floats) -> TalkerOutput:
        """Append one position. embedding: float32 [H]."""
        return self.prefill(state, embedding[None])

    def rewind(self, state: MlxTalkerState, positions: int) -> None:
        """Forget all but the first ``positions``."""
        if not 0 <= positions <= state.positions:
            raise ValueError(f"cannot go back to {positions}, the state holds {state.positions}")
        state.positions = positions

    def _feed(self, state: MlxTalkerState, embeddings: Floats, stop: int) -> TalkerOutput:
        import mlx.core as mx

        # Nothing else may hold the memory while it is computed: MLX writes in place then, and
        # copies all of it otherwise.
        caches, state.caches = state.caches or self._stack.new_caches(_STEP), None
        room = state.room or _STEP
        if stop > room:
            room = -(-stop // _STEP) * _STEP
            caches = self._stack.grown(caches, room)
        rows, caches = self._stack(to_mlx(embeddings), caches, state.positions)
        hidden = rows[-1]
        logits = self._head(hidden[None])[0].astype(mx.float32)
        hidden = hidden.astype(mx.float32)
        mx.eval(logits, hidden, caches)
        state.caches, state.room, state.positions = caches, room, stop
        return TalkerOutput(np.array(logits), np.array(hidden))


@dataclass(slots=True)
class MlxPredictorState:
    """Counts; the memory of a frame is the frame's own."""

    forward_passes: int = 0
    closed: bool = False

    def close(self) -> None:
        """Nothing lies outside Python."""
        self.closed = True


class MlxPredictor:
    """The code predictor port; each code is predicted by its own head.

    The whole frame is one evaluation with a memory of fixed size, or with ``draft_tokens`` as many
    as it takes passes (see ``sampling_speculative``).
    """

    def __init__(self, frame: MlxFrame, draft_tokens: int = 0, *, compiled: bool = False) -> None:
        self._frame = frame
        self._compiled = compiled
        self._wholes: dict[int, Callable[..., array]] = {}
        self.draft_tokens = draft_tokens
        self._verify: Verify = accept_or_resample

    def accept_at_rate(self, rate: float) -> None:
        """For benchmarks of random weights: from the next frame on draft tokens are accepted with
        this probability, see ``AcceptAtRate``."""
        self._verify = AcceptAtRate(rate)

    def new_state(self) -> MlxPredictorState:
        """Of one frame."""
        return MlxPredictorState()

    def frame(
        self, state: MlxPredictorState, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> Ids:
        """The other codes of a frame: int64 [G - 1]."""
        if state.closed:
            raise ValueError("this state is closed: make a new one")
        if not self.draft_tokens and (sampling.greedy or sampling.top_p == 1):
            return mlx_thread().call(lambda: self._whole(state, hidden, code0, sampling, draws))
        passes = _Passes(self._frame, state, hidden, code0)
        return mlx_thread().call(
            lambda: choose_codes(passes, self.draft_tokens, sampling, draws, self._verify)
        )

    def _whole(
        self, state: MlxPredictorState, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> Ids:
        """All passes in one evaluation. The random numbers are those that one pass after another
        would ask for: the largest ``probability / e`` is the largest of the logits minus log e."""
        import mlx.core as mx

        groups, codes = self._frame.groups, self._frame.codes
        top_k = 1 if sampling.greedy else min(sampling.top_k or codes, codes)
        temperature = 1.0 if sampling.greedy else sampling.temperature
        noise = np.zeros((groups, codes), np.float32)
        if not sampling.greedy:
            drawn = np.stack([draws.exponential(codes) for _ in range(groups)])
            noise = -np.log(np.maximum(drawn, _SMALLEST))
        call = self._wholes.get(top_k)
        if call is None:
            call = self._frame.of(top_k)
            self._wholes[top_k] = call = mx.compile(call) if self._compiled else call
        found = call(to_mlx(hidden), mx.array(code0), mx.array(temperature), to_mlx(noise))
        state.forward_passes += groups
        return np.array(found.astype(mx.int64))


class MlxFrame:
    """What a frame of codes takes: the decoder, its input tables and its heads."""

    def __init__(
        self, weights: Checkpoint, vectors: CodeVectors, spec: Spec, *, wide: bool
    ) -> None:
        """In the thread of MLX."""
        import mlx.core as mx

        file = MlxFile(weights, wide=wide)
        self.groups, self.codes = spec.groups - 1, spec.codes
        self.stack = MlxStack(file, PREDICTOR_NAME, spec.predictor)
        self.heads = [file.matrix(f"{_PREFIX}.lm_head.{at}") for at in range(self.groups)]
        kind, rows = vectors.stored()
        made = _NUMPY[kind.name]
        self.tables = [to_mlx(each.view(made)).astype(self.stack.dtype) for each in rows]
        self._projection: tuple[Product, array] | None = None
        if spec.projected:
            name = f"{_PREFIX}.small_to_mtp_projection"
            self._projection = file.matrix(name), file.vector(f"{name}.bias")
        mx.eval(file.made, self.tables)

    def first(self, hidden: array, code0: array) -> array:
        """What the first pass is fed: [2, width]."""
        import mlx.core as mx

        hidden = hidden.astype(self.stack.dtype)[None]
        if self._projection is not None:
            matrix, bias = self._projection
            hidden = matrix(hidden) + bias
        return mx.concatenate([hidden, self.tables[0][code0][None]])

    def logits(self, group: int, hidden: array) -> array:
        """Head ``group`` on [width]: float32 [B]."""
        import mlx.core as mx

        return self.heads[group](hidden[None])[0].astype(mx.float32)

    def of(self, top_k: int) -> Callable[[array, array, array, array], array]:
        """A function of the hidden vector [H], the first code [], the temperature [] and the noise
        [groups, B], which is added to the logits: the codes [groups], each the best of the
        ``top_k`` likeliest."""
        import mlx.core as mx

        def whole(hidden: array, code0: array, temperature: array, noise: array) -> array:
            x, start = self.first(hidden, code0), 0
            caches, codes = self.stack.new_caches(self.groups + 1), list["array"]()
            for group in range(self.groups):
                rows, caches = self.stack(x, caches, start)
                start += len(x)
                scores = self.logits(group, rows[-1]) / temperature
                if 1 < top_k < self.codes:
                    least = mx.min(mx.topk(scores, top_k))
                    scores = mx.where(scores < least, -mx.inf, scores)
                codes.append(mx.argmax(scores + noise[group]))
                if group + 1 < self.groups:
                    x = self.tables[group + 1][codes[-1]][None]
            return mx.stack(codes)

        return whole


class _Passes:
    """The passes of one frame (``ForwardPasses``), in the thread of MLX."""

    def __init__(
        self, frame: MlxFrame, state: MlxPredictorState, hidden: Floats, code0: int
    ) -> None:
        self.groups = frame.groups
        self._frame, self._state = frame, state
        self._hidden, self._code0 = hidden, code0
        self._fed = 0
        self._caches: Caches = []

    def start(self) -> Floats:
        """Feed hidden vector and first code: float32 [width]."""
        import mlx.core as mx

        self._caches = self._frame.stack.new_caches(self.groups + 1)
        self._fed = 0
        return self._pass(self._frame.first(to_mlx(self._hidden), mx.array(self._code0)))[-1]

    def feed(self, group: int, codes: list[int]) -> Floats:
        """Feed codes of ``group`` on: float32 [codes, width]."""
        import mlx.core as mx

        tables = self._frame.tables
        return self._pass(mx.stack([tables[group + 1 + at][code] for at, code in enumerate(codes)]))

    def keep(self, codes: int) -> None:
        """Forget all but the first ``codes`` codes fed."""
        self._fed = 2 + codes

    def logits(self, group: int, hidden: Floats) -> Floats:
        """Head ``group``: float32 [B]."""
        return np.array(self._frame.logits(group, to_mlx(hidden).astype(self._frame.stack.dtype)))

    def _pass(self, x: array) -> Floats:
        import mlx.core as mx

        rows, self._caches = self._frame.stack(x, self._caches, self._fed)
        rows = rows.astype(mx.float32)
        mx.eval(rows, self._caches)
        self._fed += len(x)
        self._state.forward_passes += 1
        return np.array(rows)


_NUMPY = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}
