"""Talker and code predictor on ExecuTorch: the programs of a checkpoint that was exported.

Weights are shared by every state; a state is the key/value memory of one utterance or one frame, in
plain arrays beside the program: a call reads all of it and gives back the new rows, which are put
in their places here. So a state that is dropped in the middle of anything leaves nothing behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.checkpoint.tables import CodeVectors, TableEmbeddings, open_tables
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.executorch.parts import MASKED
from s2s.tts.qwen3.executorch.program import Program
from s2s.tts.qwen3.executorch.transformer import HEAD, LAYERS, MOST_ROOM, MOST_ROWS, PROJECTION
from s2s.tts.qwen3.executorch.weights import PREDICTOR_FILE, TALKER_FILE, open_program
from s2s.tts.qwen3.interfaces import Floats, Ids, TalkerOutput
from s2s.tts.qwen3.sampling import Draws, Sampling
from s2s.tts.qwen3.sampling_speculative import (
    AcceptAtRate,
    Verify,
    accept_or_resample,
    choose_codes,
)

_STEP = 128
"""Positions by which a talker's memory grows: what a step costs grows with them, and another size
is planned anew."""


@dataclass(frozen=True, slots=True)
class ExecutorchModel:
    """The language model of one converted checkpoint, and what it was quantised to."""

    language: LanguageModel[ExecutorchCache, ExecutorchCache]
    quant: str
    predictor_quant: str


def load(folder: Path, spec: Spec, draft_tokens: int = 0) -> ExecutorchModel:
    """Open the programs and tables of ``folder`` (see ``convert``).

    ``draft_tokens`` codes are drafted for each predictor pass (see ``sampling_speculative``).
    Raises ExecutorchError or GGUFError when a file is missing, damaged, of another version or
    another checkpoint, BackendError where it cannot be run here.
    """
    talker, quant = open_talker(folder, spec)
    predictor, predictor_quant = open_predictor(folder, spec, draft_tokens)
    embeddings = TableEmbeddings(open_tables(folder), spec)
    language = LanguageModel(spec, embeddings, talker, predictor)
    return ExecutorchModel(language, quant, predictor_quant)


def open_talker(folder: Path, spec: Spec) -> tuple[ExecutorchTalker, str]:
    """The talker of ``folder``, and what it was quantised to. Raises as `load` does."""
    program, quant = open_program(folder, TALKER_FILE)
    program.load(LAYERS, HEAD)
    return ExecutorchTalker(program, spec), quant


def open_predictor(
    folder: Path, spec: Spec, draft_tokens: int = 0
) -> tuple[ExecutorchPredictor, str]:
    """The code predictor of ``folder``, and what it was quantised to. Raises as `load` does."""
    program, quant = open_program(folder, PREDICTOR_FILE)
    program.load(LAYERS, *(f"{HEAD}_{group}" for group in range(spec.groups - 1)))
    vectors = CodeVectors(open_tables(folder), spec)
    return ExecutorchPredictor(program, vectors, spec, draft_tokens), quant


@dataclass(slots=True)
class ExecutorchCache:
    """Keys and values of one utterance's talker, or of one frame.

    caches: for each layer keys float32 [kv heads, head_dim, room], then values [kv heads, room,
    head_dim]; empty once closed.
    """

    max_positions: int
    room: int
    caches: list[Floats]
    positions: int = 0
    """How many have been fed."""
    forward_passes: int = 0
    """Calls made."""
    closed: bool = False

    def close(self) -> None:
        """Drop the memory."""
        self.closed, self.caches = True, []

    def rewind(self, positions: int) -> None:
        """Forget all but the first ``positions``. Raises ValueError when there are fewer."""
        if not 0 <= positions <= self.positions:
            raise ValueError(f"cannot go back to {positions}, the state holds {self.positions}")
        self.positions = positions


class StackProgram:
    """One stack's program: vectors in, normed rows out."""

    def __init__(self, program: Program, spec: DecoderSpec) -> None:
        self._program = program
        self._spec = spec
        half = spec.head_dim // 2
        inverse = spec.rope_theta ** -(np.arange(half, dtype=np.float32) / np.float32(half))
        self._inverse = np.tile(inverse.astype(np.float32), 2)

    def new_cache(self, max_positions: int, room: int) -> ExecutorchCache:
        """An empty cache with room for the first ``room`` of ``max_positions``."""
        if max_positions < 1:
            raise ValueError(f"max_positions is {max_positions}")
        return ExecutorchCache(max_positions, room, self._zeros(room))

    def feed(self, cache: ExecutorchCache, vectors: Floats) -> Floats:
        """Append positions, in blocks. vectors: float32 [n, hidden]; returns normed rows of the
        last block. Raises ValueError when the cache is closed or has no room for n more."""
        width = self._spec.hidden
        if cache.closed:
            raise ValueError("this state is closed: make a new one")
        if vectors.ndim != 2 or not len(vectors) or vectors.shape[1] != width:
            raise ValueError(f"vectors of shape {vectors.shape}; wanted [n, {width}]")
        stop = cache.positions + len(vectors)
        if stop > cache.max_positions:
            raise ValueError(f"no room for {stop} positions, the state has {cache.max_positions}")
        if stop > cache.room:
            self._grow(cache, -(-stop // _STEP) * _STEP)
        starts = range(0, len(vectors), MOST_ROWS)
        rows = [self._block(cache, vectors[start : start + MOST_ROWS]) for start in starts]
        return rows[-1]

    def _block(self, cache: ExecutorchCache, vectors: Floats) -> Floats:
        spec, count, start = self._spec, len(vectors), cache.positions
        angles = np.arange(start, start + count, dtype=np.float32)[:, None, None] * self._inverse
        sharing = spec.heads // spec.kv_heads
        before = np.zeros((sharing * count, cache.room), np.float32)
        before[:, start:] = MASKED
        new = np.tile(np.triu(np.full((count, count), MASKED, np.float32), 1), (sharing, 1))
        inputs = [vectors, np.cos(angles), np.sin(angles), before, new, *cache.caches]
        rows, *made = self._program.run(LAYERS, inputs)
        stop = start + count
        for layer in range(spec.layers):
            keys, values = cache.caches[2 * layer], cache.caches[2 * layer + 1]
            keys[:, :, start:stop] = made[2 * layer].swapaxes(1, 2)
            values[:, start:stop] = made[2 * layer + 1]
        cache.positions = stop
        cache.forward_passes += 1
        return rows

    def _grow(self, cache: ExecutorchCache, room: int) -> None:
        grown, kept = self._zeros(room), cache.positions
        for at, (new, old) in enumerate(zip(grown, cache.caches, strict=True)):
            if at % 2:
                new[:, :kept] = old[:, :kept]
            else:
                new[:, :, :kept] = old[:, :, :kept]
        cache.caches, cache.room = grown, room

    def _zeros(self, room: int) -> list[Floats]:
        spec = self._spec
        shapes = (spec.kv_heads, spec.head_dim, room), (spec.kv_heads, room, spec.head_dim)
        return [np.zeros(shape, np.float32) for _ in range(spec.layers) for shape in shapes]


class ExecutorchTalker:
    """The talker port."""

    def __init__(self, program: Program, spec: Spec) -> None:
        self._program = program
        self._stack = StackProgram(program, spec.talker)

    def new_state(self, max_positions: int) -> ExecutorchCache:
        """An empty cache for ``max_positions``; memory is taken as they come."""
        if max_positions > MOST_ROOM:
            raise ValueError(f"max_positions is {max_positions}; the program takes {MOST_ROOM}")
        return self._stack.new_cache(max_positions, _STEP)

    def prefill(self, state: ExecutorchCache, embeddings: Floats) -> TalkerOutput:
        """Append prompt positions. embeddings: float32 [n, H]."""
        hidden = self._stack.feed(state, embeddings)[-1:]
        (logits,) = self._program.run(HEAD, [hidden])
        return TalkerOutput(logits[0], hidden[0])

    def step(self, state: ExecutorchCache, embedding: Floats) -> TalkerOutput:
        """Append one position. embedding: float32 [H]."""
        return self.prefill(state, embedding[None])

    def rewind(self, state: ExecutorchCache, positions: int) -> None:
        """Forget all but the first ``positions``."""
        state.rewind(positions)


class ExecutorchPredictor:
    """The code predictor port; each code is predicted by its own head.

    Fifteen passes a frame, or fewer with ``draft_tokens`` (see ``sampling_speculative``).
    """

    def __init__(
        self, program: Program, vectors: CodeVectors, spec: Spec, draft_tokens: int = 0
    ) -> None:
        self._program = program
        self._vectors = vectors
        self._spec = spec
        self._stack = StackProgram(program, spec.predictor)
        self.draft_tokens = draft_tokens
        self._verify: Verify = accept_or_resample

    def accept_at_rate(self, rate: float) -> None:
        """For benchmarks of random weights: from the next frame on draft tokens are accepted with
        this probability, see ``AcceptAtRate``."""
        self._verify = AcceptAtRate(rate)

    def new_state(self) -> ExecutorchCache:
        """A cache of one frame."""
        return self._stack.new_cache(self._spec.groups, self._spec.groups)

    def frame(
        self, state: ExecutorchCache, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> Ids:
        """The other codes of a frame: int64 [G - 1]."""
        if state.closed:
            raise ValueError("this state is closed: make a new one")
        if self._spec.projected:
            (narrow,) = self._program.run(PROJECTION, [hidden[None]])
            hidden = narrow[0]
        first = np.stack([hidden, self._vectors(0, code0)])
        passes = _Frame(self._program, self._stack, self._vectors, state, first)
        return choose_codes(passes, self.draft_tokens, sampling, draws, self._verify)


class _Frame:
    """The passes of one frame (``ForwardPasses``)."""

    def __init__(
        self,
        program: Program,
        stack: StackProgram,
        vectors: CodeVectors,
        cache: ExecutorchCache,
        first: Floats,
    ) -> None:
        self.groups = vectors.groups - 1
        self._program = program
        self._stack = stack
        self._vectors = vectors
        self._cache = cache
        self._first = first

    def start(self) -> Floats:
        """Feed hidden vector and first code: float32 [width]."""
        self._cache.rewind(0)
        return self._stack.feed(self._cache, self._first)[-1]

    def feed(self, group: int, codes: list[int]) -> Floats:
        """Feed codes of ``group`` on: float32 [codes, width]."""
        rows = [self._vectors(group + 1 + at, code) for at, code in enumerate(codes)]
        return self._stack.feed(self._cache, np.stack(rows))

    def keep(self, codes: int) -> None:
        """Forget all but the first ``codes`` codes fed."""
        self._cache.rewind(len(self._first) + codes)

    def logits(self, group: int, hidden: Floats) -> Floats:
        """Head ``group``: float32 [B]."""
        (logits,) = self._program.run(f"{HEAD}_{group}", [hidden[None]])
        return logits[0]
