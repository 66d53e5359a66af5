"""Talker and code predictor on the compiled kernel: the fastest of the backends on a CPU.

Reads the GGUF files of a converted checkpoint (see ``convert``), of any quantisation to eight bits
or less. Heads hold only the rows that can be sampled. A frame of the predictor is one call:
docs/decisions/qwen3-frame-is-one-call.md.
"""

from __future__ import annotations

import ctypes
from ctypes import c_void_p
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.gguf import GGUFFile
from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TALKER
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.checkpoint.tables import (
    CodeVectors,
    TableEmbeddings,
    open_part,
    open_tables,
    vector,
)
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.interfaces import Floats, Ids, TalkerOutput
from s2s.tts.qwen3.native import library as kernel
from s2s.tts.qwen3.native.emulated_acceptance import emulated_acceptance
from s2s.tts.qwen3.native.library import ChooseFrame, KernelError
from s2s.tts.qwen3.native.transformer import KvCache, Matrices, Stored, ThreadPool, Transformer
from s2s.tts.qwen3.sampling import Draws, Sampling

_TOO_FINE = ("f32", "bf16", "f16")
_HEAD, _PROJECTION = "head", "projection"
_MAX_DRAFT_TOKENS = 7  # MAX_DRAFT_TOKENS of code_predictor.h
_BELOW_ONE = np.nextafter(np.float32(1), np.float32(0))


@dataclass(frozen=True, slots=True)
class NativeModel:
    """The language model of one converted checkpoint, and what it was quantised to."""

    language: LanguageModel[NativeTalkerState, NativePredictorState]
    quant: str
    predictor_quant: str


def load(
    folder: Path, spec: Spec, threads: int, *, cache: Path, draft_tokens: int = 0
) -> NativeModel:
    """Open the three files of ``folder``.

    ``threads`` compute each step together; ``cache`` is where the kernel is built at first use;
    ``draft_tokens`` codes are drafted for each predictor pass (see ``sampling_speculative``).
    Raises GGUFError when a file is missing, damaged or not ours, KernelError when there is no
    kernel on this machine or it cannot compute this checkpoint.
    """
    tables = open_tables(folder)
    pool = ThreadPool(cache, threads)
    talker, quant = open_talker(folder, spec, pool)
    predictor, predictor_quant = open_predictor(folder, spec, pool, draft_tokens)
    language = LanguageModel(spec, TableEmbeddings(tables, spec), talker, predictor)
    return NativeModel(language, quant, predictor_quant)


def open_talker(folder: Path, spec: Spec, pool: ThreadPool) -> tuple[NativeTalker, str]:
    """The talker of ``folder``, and what it was quantised to. Raises as `load` does."""
    file, quant = open_kernel_part(folder, TALKER, spec)
    return NativeTalker(pool, file, spec), quant


def open_predictor(
    folder: Path, spec: Spec, pool: ThreadPool, draft_tokens: int = 0
) -> tuple[NativePredictor, str]:
    """The code predictor of ``folder``, and what it was quantised to. Raises as `load` does."""
    file, quant = open_kernel_part(folder, PREDICTOR, spec)
    return NativePredictor(pool, file, open_tables(folder), spec, draft_tokens), quant


def talker_head(file: GGUFFile, spec: Spec) -> dict[str, Stored]:
    """The rows of the talker's head that can be sampled: all codes, and the end of speech. Raises
    GGUFError."""
    shape = (spec.talker.vocabulary, spec.talker.hidden)
    file.require("output.weight", shape)
    rows = (range(spec.codes), range(spec.ids.eos, spec.ids.eos + 1))
    return {_HEAD: Stored(file, "output.weight", rows, shape[1])}


def predictor_heads(tables: GGUFFile, spec: Spec) -> dict[str, Stored]:
    """The predictor's head of each group, and behind them the projection from the talker's width
    where there is one. Raises GGUFError."""
    width = spec.predictor.hidden
    stored = {
        f"{_HEAD}.{group}": Stored.whole(tables, f"head.{group}", (spec.codes, width))
        for group in range(spec.groups - 1)
    }
    if spec.projected:
        name = "projection.weight"
        stored[_PROJECTION] = Stored.whole(tables, name, (width, spec.talker.hidden))
    return stored


def projection_bias(tables: GGUFFile, spec: Spec) -> Floats | None:
    """float32 [width of the predictor]; None where there is no projection. Raises GGUFError."""
    return vector(tables, "projection.bias", spec.predictor.hidden) if spec.projected else None


def open_kernel_part(folder: Path, name: str, spec: Spec) -> tuple[GGUFFile, str]:
    """A file of a converted checkpoint that the kernel can compute, and what it was quantised to.
    Raises GGUFError, KernelError."""
    file, quant = open_part(folder, name, spec)
    if quant in _TOO_FINE:
        raise KernelError(
            f"{folder / name} is converted to {quant}: the kernel computes in 8 bits at most; "
            "take q8_0, or the ggml backend"
        )
    return file, quant


class NativeTalkerState:
    """One utterance's keys and values."""

    def __init__(self, cache: KvCache) -> None:
        self.cache = cache

    @property
    def positions(self) -> int:
        """How many positions have been fed."""
        return self.cache.positions

    def close(self) -> None:
        """Free the cache."""
        self.cache.close()


class NativeTalker:
    """The talker port."""

    def __init__(self, pool: ThreadPool, file: GGUFFile, spec: Spec) -> None:
        self._transformer = Transformer(pool, file, spec.talker, "talker")
        self._head = Matrices(pool, talker_head(file, spec), "talker-head")
        self._sampled = np.array([*range(spec.codes), spec.ids.eos])
        self._vocabulary = spec.talker.vocabulary

    def use(self, pool: ThreadPool) -> None:
        """Another thread pool computes from now on."""
        self._transformer.use(pool)
        self._head.pool = pool

    def new_state(self, max_positions: int) -> NativeTalkerState:
        """An empty cache for ``max_positions``."""
        return NativeTalkerState(self._transformer.new_cache(max_positions))

    def prefill(self, state: NativeTalkerState, embeddings: Floats) -> TalkerOutput:
        """Append prompt positions. embeddings: float32 [n, H]."""
        hidden = self._transformer.forward(state.cache, embeddings)[-1]
        logits = np.full(self._vocabulary, -np.inf, np.float32)
        logits[self._sampled] = self._head.product(_HEAD, hidden)
        return TalkerOutput(logits, hidden)

    def step(self, state: NativeTalkerState, embedding: Floats) -> TalkerOutput:
        """Append one position. embedding: float32 [H]."""
        return self.prefill(state, embedding[None])

    def rewind(self, state: NativeTalkerState, positions: int) -> None:
        """Drop all but the first ``positions``."""
        state.cache.rewind(positions)


class NativePredictorState:
    """The cache of one frame. ``forward_passes`` counts those made with it."""

    def __init__(self, cache: KvCache) -> None:
        self.cache = cache
        self.forward_passes = 0

    def close(self) -> None:
        """Free the cache."""
        self.cache.close()


class NativePredictor:
    """The code predictor port: a whole frame is one call of the kernel.

    Fifteen forward passes a frame, or fewer with ``draft_tokens`` (as ``sampling_speculative`` does
    it). A choice takes one number from ``Draws.uniform``, whatever the size of the codebook.

    ``transformer``, ``vectors`` and ``matrices`` are what the frame is made of, for single calls.
    """

    def __init__(
        self, pool: ThreadPool, file: GGUFFile, tables: GGUFFile, spec: Spec, draft_tokens: int = 0
    ) -> None:
        self.draft_tokens = draft_tokens
        self.transformer = Transformer(pool, file, spec.predictor, "predictor")
        self.vectors = CodeVectors(tables, spec)
        width = spec.predictor.hidden
        heads = [f"{_HEAD}.{group}" for group in range(spec.groups - 1)]
        self._bias = projection_bias(tables, spec)
        self.matrices = Matrices(pool, predictor_heads(tables, spec), "predictor-heads")
        self._pool = pool
        self._choose_frame: ChooseFrame = pool.kernel.choose_frame
        kind, self._rows = self.vectors.stored()
        pointers = c_void_p * len(heads)
        self._predictor = kernel.Predictor(
            self.transformer.pointer,
            len(heads),
            spec.codes,
            width,
            kind.ggml_id,
            pointers(*(self.matrices.pointers[name] for name in heads)),
            pointers(*(kernel.address(rows) for rows in self._rows)),
        )

    def use(self, pool: ThreadPool) -> None:
        """Another thread pool computes from now on."""
        self._pool = pool
        self.transformer.use(pool)
        self.matrices.pool = pool

    def accept_at_rate(self, rate: float) -> None:
        """For benchmarks of random weights: from the next frame on draft tokens are accepted with
        this probability, as ``AcceptAtRate`` does."""
        self._choose_frame = emulated_acceptance(self._pool.kernel, self.vectors.groups - 1, rate)

    def new_state(self) -> NativePredictorState:
        """A cache of one frame."""
        return NativePredictorState(self.transformer.new_cache(self.vectors.groups))

    def frame(
        self,
        state: NativePredictorState,
        hidden: Floats,
        code0: int,
        sampling: Sampling,
        draws: Draws,
    ) -> Ids:
        """The other codes of a frame: int64 [G - 1]. Raises ValueError for a closed state."""
        lib, groups = self._pool.kernel, self.vectors.groups - 1
        draft_tokens = min(self.draft_tokens, _MAX_DRAFT_TOKENS)
        first = np.stack([self.project(hidden), self.vectors(0, code0)])
        count = 0 if sampling.greedy else lib.frame_uniforms(groups, draft_tokens)
        uniforms = np.array([draws.uniform() for _ in range(count)], np.float32)
        np.minimum(uniforms, _BELOW_ONE, out=uniforms)  # rounding must not reach it
        chosen = np.empty(groups, np.int32)
        how = kernel.Sampling(sampling.greedy, sampling.top_k, sampling.temperature, sampling.top_p)
        passes = self._choose_frame(
            ctypes.addressof(self._predictor),
            state.cache.open(),
            kernel.address(first),
            draft_tokens,
            ctypes.addressof(how),
            kernel.address(uniforms),
            kernel.address(chosen),
        )
        kernel.require(passes, "no memory for a frame")
        state.forward_passes += passes
        return chosen.astype(np.int64)

    def project(self, hidden: Floats) -> Floats:
        """To the width of the predictor."""
        if self._bias is None:
            return np.asarray(hidden, np.float32)
        return self.matrices.product(_PROJECTION, hidden) + self._bias
