"""How far each quantisation of a checkpoint is from float32 in numpy, and where it parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.backends import backend_named, backend_with, device_placement
from s2s.tts.qwen3.checkpoint.hub import find_checkpoint
from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.engine.language_model import LanguageModel, P, T
from s2s.tts.qwen3.folders import CONVERTED_FOLDER
from s2s.tts.qwen3.ggml import language as ggml
from s2s.tts.qwen3.language import load_language
from s2s.tts.qwen3.parity.quality import Quality, compare
from s2s.tts.qwen3.parity.tensors import (
    Difference,
    TensorRecording,
    differences,
    first_divergence,
    record,
)
from s2s.tts.qwen3.reference import (
    Cache,
    ReferenceEmbeddings,
    ReferencePredictor,
    ReferenceTalker,
    Trace,
    no_trace,
)
from s2s.tts.qwen3.text.example import request_of
from s2s.tts.qwen3.text.prompt import Prompt, PromptBuilder
from s2s.tts.qwen3.text.tokenizer import Tokenizer

_TRACED_FRAMES = 2

RANDOM_WEIGHTS = (
    "On random weights this shows that the arithmetic is right and how the quants rank; trained "
    "weights are far more peaked, so their figures are better."
)


@dataclass(frozen=True, slots=True)
class Traced:
    """One quant, tensor by tensor: every difference, and the first above the tolerance."""

    name: str
    differences: tuple[Difference, ...]
    first: Difference | None


class Parity:
    """Compares backends at several quants with the numpy reference on one official checkpoint."""

    def __init__(self, folder: Path, threads: int, trace: bool = False) -> None:
        """folder: in the official layout. Raises SpecError or CheckpointError."""
        self._folder = folder
        self._threads = threads
        self._spec = read_spec(folder)
        self._tokenizer = Tokenizer.load(folder)
        self._recording = TensorRecording()
        self._model = reference(folder, self._spec, self._recording if trace else no_trace)
        self._prompt = self._prompt_of(self._model)

    def quality(self, quants: Sequence[str], frames: int) -> list[Quality]:
        """A row a quant, over ``frames`` frames: "q8_0" on ggml, "int8" on ONNX Runtime, or
        "native:q8_0" on the backend named. Raises ConvertError for an unknown quant, BackendError
        for a backend that is not there or does not have it."""
        return [self._quality(quant, frames) for quant in quants]

    def trace(self, quant: str, tolerance: float) -> Traced:
        """All tensors of the prompt and two frames. Needs ``trace`` at the start."""
        random = np.random.Generator(np.random.PCG64(0))
        codes = random.integers(0, self._spec.codes, (_TRACED_FRAMES, self._spec.groups))
        if not self._recording.tensors:
            record(self._model, self._recording, self._prompt, codes)
        with TemporaryDirectory() as scratch:
            folder = convert(self._folder, quant, converted=Path(scratch), threads=self._threads)
            seen = TensorRecording()
            model = ggml.load(folder, self._spec, self._threads, trace=seen).language
            record(model, seen, self._prompt_of(model), codes)
        found = tuple(differences(self._recording, seen))
        return Traced(quant, found, first_divergence(self._recording, seen, tolerance))

    def _quality(self, written: str, frames: int) -> Quality:
        backend, _, quant = written.rpartition(":")
        placement = device_placement(backend or _usual(quant))
        with TemporaryDirectory() as scratch:
            loaded = load_language(
                self._folder,
                Path(scratch),
                Quants(quant),
                (placement, placement),
                threads=self._threads,
            )
            candidate = loaded.language, self._prompt_of(loaded.language)
            return compare(written, (self._model, self._prompt), candidate, frames)

    def _prompt_of(self, model: LanguageModel[T, P]) -> Prompt:
        return PromptBuilder(self._spec, self._tokenizer, model.embeddings).build(
            request_of(self._spec)
        )


def _usual(quant: str) -> str:
    """What computes a quant when no backend is named: ggml, which shows its layers, if it can."""
    backend = backend_with(quant)
    return "ggml" if quant.lower() in backend_named("ggml").quants else backend.name


def open_parity(source: str, home: Path, threads: int, *, trace: bool = False) -> Parity:
    """Parity of a checkpoint by its folder, name or hub id. Raises Qwen3Error."""
    return Parity(find_checkpoint(source, home / CONVERTED_FOLDER), threads, trace)


def reference(folder: Path, spec: Spec, trace: Trace) -> LanguageModel[Cache, Cache]:
    """The numpy backend of a checkpoint."""
    weights = open_checkpoint(folder, spec)
    return LanguageModel(
        spec,
        ReferenceEmbeddings(spec, weights),
        ReferenceTalker(spec, weights, trace),
        ReferencePredictor(spec, weights, trace),
    )


def trace_table(traced: Traced, rows: int = 12) -> str:
    """The worst tensors and the first above the tolerance, as aligned text."""
    lines = [f"{'tensor (last position)':<72} {'largest':>9} {'of rms':>9}"]
    worst = sorted(traced.differences, key=lambda each: each.relative, reverse=True)[:rows]
    shown = [each for each in traced.differences if each in worst]
    lines += [f"{each.name:<72} {each.absolute:>9.2g} {each.relative:>9.2g}" for each in shown]
    if traced.first is None:
        lines.append(f"{traced.name}: all {len(traced.differences)} tensors agree")
    else:
        lines.append(f"{traced.name}: parts first at {traced.first.name}")
    return "\n".join(lines)
