"""Talker, code predictor and input tables on ggml: the three files of a converted checkpoint.

Both decoders are stock ``qwen3`` models of llama.cpp that are fed with vectors; a step reads their
logits and the hidden vector after the final norm. The predictor's heads are fifteen matrices of
their own: one is multiplied in each pass, never all of them. Weights are shared by every state; a
state is one llama.cpp context, whose cache has the size that was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.system.llama_context import LlamaContext, LlamaModel, TensorWatch
from s2s.system.llama_cpp import Library
from s2s.tts.qwen3.checkpoint.gguf import GGUFFile
from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TALKER
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.checkpoint.tables import (
    CodeVectors,
    TableEmbeddings,
    kind_of,
    open_part,
    open_tables,
    vector,
)
from s2s.tts.qwen3.engine.decode_loop import PREFILL_POSITIONS
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.errors import GGUFError
from s2s.tts.qwen3.ggml.library import library
from s2s.tts.qwen3.ggml.matrices import Matrices
from s2s.tts.qwen3.interfaces import Floats, Ids, TalkerOutput
from s2s.tts.qwen3.reference import PREDICTOR_NAME, TALKER_NAME, Trace
from s2s.tts.qwen3.sampling import Draws, Sampling
from s2s.tts.qwen3.sampling_speculative import (
    AcceptAtRate,
    Verify,
    accept_or_resample,
    choose_codes,
)


@dataclass(frozen=True, slots=True)
class GgmlModel:
    """The language model of one converted checkpoint, and what it was quantised to."""

    language: LanguageModel[GgmlTalkerState, GgmlPredictorState]
    quant: str
    predictor_quant: str


def load(
    folder: Path,
    spec: Spec,
    threads: int,
    gpu_layers: int = 0,
    draft_tokens: int = 0,
    trace: Trace | None = None,
) -> GgmlModel:
    """Open the three files of ``folder`` (see ``convert``).

    ``threads`` compute each step; ``gpu_layers`` of the talker and of the predictor go to the
    library's accelerator, if it has one; ``draft_tokens`` codes are drafted for each predictor
    pass (see ``sampling_speculative``). A checkpoint converted to f32 is computed in f32
    throughout; others keep their cache in f16. ``trace`` sees the layers' results, under the names
    of the reference backend. Raises GGUFError when a file is missing, damaged or
    not ours, LlamaError when there is no library or it refuses a file.
    """
    tables = open_tables(folder)
    talker, quant = open_talker(folder, spec, threads, gpu_layers, trace)
    predictor, predictor_quant = open_predictor(
        folder, spec, threads, gpu_layers, draft_tokens, trace
    )
    language = LanguageModel(spec, TableEmbeddings(tables, spec), talker, predictor)
    return GgmlModel(language, quant, predictor_quant)


def open_talker(
    folder: Path, spec: Spec, threads: int, gpu_layers: int = 0, trace: Trace | None = None
) -> tuple[GgmlTalker, str]:
    """The talker of ``folder``, and what it was quantised to. Raises as `load` does."""
    _, quant = open_part(folder, TALKER, spec)
    model = LlamaModel(library(), folder / TALKER, gpu_layers)
    _check_width(folder / TALKER, model, spec.talker.hidden)
    return GgmlTalker(model, threads, exact=quant == "f32", trace=trace), quant


def open_predictor(
    folder: Path,
    spec: Spec,
    threads: int,
    gpu_layers: int = 0,
    draft_tokens: int = 0,
    trace: Trace | None = None,
) -> tuple[GgmlPredictor, str]:
    """The code predictor of ``folder``, and what it was quantised to. Raises as `load` does."""
    _, quant = open_part(folder, PREDICTOR, spec)
    lib = library()
    tables = _PredictorTables(open_tables(folder), spec, lib, threads)
    model = LlamaModel(lib, folder / PREDICTOR, gpu_layers)
    _check_width(folder / PREDICTOR, model, spec.predictor.hidden)
    predictor = GgmlPredictor(
        model, tables, threads, exact=quant == "f32", draft_tokens=draft_tokens, trace=trace
    )
    return predictor, quant


def _check_width(path: Path, model: LlamaModel, width: int) -> None:
    if model.width != width:
        raise GGUFError(f"{path} is {model.width} wide, config.json says {width}")


def _watch(model: LlamaModel, name: str, trace: Trace | None) -> TensorWatch | None:
    """What shows a context's layers to ``trace``, under the reference backend's names."""
    if trace is None:
        return None

    def see(tensor: str, value: Floats) -> None:
        kind, _, layer = tensor.partition("-")
        suffix = {"ffn_inp": f".layers.{layer}.attention", "l_out": f".layers.{layer}"}
        trace(name + suffix.get(kind, ".norm"), value)

    def wanted(tensor: str) -> bool:
        return tensor.startswith(("ffn_inp-", "l_out-", "result_norm", "result_embd"))

    return TensorWatch(model.lib, model.width, wanted, see)


class GgmlTalkerState:
    """One utterance's key/value cache."""

    def __init__(self, context: LlamaContext) -> None:
        self.context = context

    @property
    def positions(self) -> int:
        """How many positions have been fed."""
        return self.context.positions

    def close(self) -> None:
        """Free the cache."""
        self.context.close()


class GgmlTalker:
    """The talker port on llama.cpp."""

    def __init__(
        self, model: LlamaModel, threads: int, exact: bool, trace: Trace | None = None
    ) -> None:
        self._model = model
        self._threads = threads
        self._exact = exact
        self._watch = _watch(model, TALKER_NAME, trace)
        self.width = model.width

    def new_state(self, max_positions: int) -> GgmlTalkerState:
        """An empty cache for ``max_positions``."""
        if max_positions < 1:
            raise ValueError(f"max_positions is {max_positions}")
        return GgmlTalkerState(
            LlamaContext(
                self._model,
                max_positions,
                PREFILL_POSITIONS,
                self._threads,
                self._exact,
                self._watch,
            )
        )

    def prefill(self, state: GgmlTalkerState, embeddings: Floats) -> TalkerOutput:
        """Append prompt positions. embeddings: float32 [n, H]."""
        state.context.feed(embeddings)
        return TalkerOutput(state.context.logits(), state.context.hidden())

    def step(self, state: GgmlTalkerState, embedding: Floats) -> TalkerOutput:
        """Append one position. embedding: float32 [H]."""
        return self.prefill(state, embedding[None])

    def rewind(self, state: GgmlTalkerState, positions: int) -> None:
        """Forget all but the first ``positions``."""
        state.context.rewind(positions)


class GgmlPredictorState:
    """The cache of one frame. ``forward_passes`` counts those made with it."""

    def __init__(self, context: LlamaContext) -> None:
        self.context = context
        self.forward_passes = 0

    def close(self) -> None:
        """Free the cache."""
        self.context.close()


class GgmlPredictor:
    """The code predictor port on llama.cpp; each code is predicted by its own head.

    Fifteen passes a frame, or fewer with ``draft_tokens`` (see ``sampling_speculative``).
    """

    def __init__(
        self,
        model: LlamaModel,
        tables: _PredictorTables,
        threads: int,
        exact: bool,
        draft_tokens: int = 0,
        trace: Trace | None = None,
    ) -> None:
        self._model = model
        self._tables = tables
        self._threads = threads
        self._exact = exact
        self.draft_tokens = draft_tokens
        self._verify: Verify = accept_or_resample
        self._watch = _watch(model, PREDICTOR_NAME, trace)
        self.width = model.width

    def accept_at_rate(self, rate: float) -> None:
        """For benchmarks of random weights: from the next frame on draft tokens are accepted with
        this probability, see ``AcceptAtRate``."""
        self._verify = AcceptAtRate(rate)

    def new_state(self) -> GgmlPredictorState:
        """A cache of one frame."""
        room = self._tables.groups
        return GgmlPredictorState(
            LlamaContext(self._model, room, room, self._threads, self._exact, self._watch)
        )

    def frame(
        self,
        state: GgmlPredictorState,
        hidden: Floats,
        code0: int,
        sampling: Sampling,
        draws: Draws,
    ) -> Ids:
        """The other codes of a frame: int64 [G - 1]."""
        passes = _Frame(state, self._tables, hidden, code0)
        return choose_codes(passes, self.draft_tokens, sampling, draws, self._verify)


class _Frame:
    """The passes of one frame (``ForwardPasses``)."""

    def __init__(
        self, state: GgmlPredictorState, tables: _PredictorTables, hidden: Floats, code0: int
    ) -> None:
        self.groups = tables.groups - 1
        self._state = state
        self._tables = tables
        self._first = np.stack([tables.hidden(hidden), tables.code(0, code0)])

    def start(self) -> Floats:
        """Feed hidden vector and first code: float32 [width]."""
        self._state.context.rewind(0)
        return self._pass(self._first, 1)[0]

    def feed(self, group: int, codes: list[int]) -> Floats:
        """Feed codes of ``group`` on: float32 [codes, width]."""
        rows = [self._tables.code(group + 1 + at, code) for at, code in enumerate(codes)]
        return self._pass(np.stack(rows), len(rows))

    def keep(self, codes: int) -> None:
        """Forget all but the first ``codes`` codes fed."""
        self._state.context.rewind(len(self._first) + codes)

    def logits(self, group: int, hidden: Floats) -> Floats:
        """Head ``group``: float32 [B]."""
        return self._tables.logits(group, hidden)

    def _pass(self, vectors: Floats, outputs: int) -> Floats:
        self._state.forward_passes += 1
        self._state.context.feed(vectors, outputs)
        return self._state.context.hiddens(outputs)


class _PredictorTables:
    """What the predictor is fed with, and its heads."""

    def __init__(self, file: GGUFFile, spec: Spec, lib: Library, threads: int) -> None:
        self.groups = spec.groups
        self.code = CodeVectors(file, spec)
        width = spec.predictor.hidden
        heads = [f"head.{group}" for group in range(spec.groups - 1)]
        for name in heads:
            file.require(name, (spec.codes, width))
        self._heads = _matrices(file, heads, width, lib, threads)
        self._projection: Matrices | None = None
        if spec.projected:
            file.require("projection.weight", (width, spec.talker.hidden))
            self._projection = _matrices(
                file, ["projection.weight"], spec.talker.hidden, lib, threads
            )
            self._bias = vector(file, "projection.bias", width)

    def hidden(self, hidden: Floats) -> Floats:
        """The talker's hidden vector as the predictor is fed it: float32 [width]."""
        if self._projection is None:
            return hidden
        return self._projection.product(0, hidden) + self._bias

    def logits(self, group: int, hidden: Floats) -> Floats:
        """Head ``group``, of code ``group + 1``: float32 [B]."""
        return self._heads.product(group, hidden)


def _matrices(file: GGUFFile, names: list[str], width: int, lib: Library, threads: int) -> Matrices:
    return Matrices(lib, [(file.raw(name), kind_of(file, name)) for name in names], width, threads)
