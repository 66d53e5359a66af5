"""llama.cpp as a backend: every quantisation, on the processor or a graphics card."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.backend import (
    CodecBackend,
    DraftingPredictor,
    Quants,
    Setting,
    as_predictor,
    as_talker,
    nothing_like,
)
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob, convert_to
from s2s.tts.qwen3.checkpoint.gguf_weights import GGUFWeights
from s2s.tts.qwen3.checkpoint.quant import MIXES
from s2s.tts.qwen3.ggml.language import open_predictor, open_talker
from s2s.tts.qwen3.interfaces import PredictorState, State, Talker


@dataclass(frozen=True, slots=True)
class GgmlCore:
    """Talker and predictor, each with threads of its own."""

    setting: Setting

    def talker(self, folder: Path, gpu_layers: int) -> tuple[Talker[State], str]:
        """See `Core`."""
        setting = self.setting
        talker, quant = open_talker(folder, setting.spec, setting.threads, gpu_layers)
        return as_talker(talker), quant

    def predictor(
        self, folder: Path, gpu_layers: int, draft_tokens: int
    ) -> tuple[DraftingPredictor[PredictorState], str]:
        """See `Core`."""
        setting = self.setting
        predictor, quant = open_predictor(
            folder, setting.spec, setting.threads, gpu_layers, draft_tokens
        )
        return as_predictor(predictor), quant

    def use_threads(self, threads: int) -> bool:
        """Fixed when a context is made."""
        return False

    @property
    def remarks(self) -> tuple[str, ...]:
        """See `Core`; there is nothing to say."""
        return ()


@dataclass(frozen=True, slots=True)
class GgmlBackend:
    """See `Backend`."""

    name: str = "ggml"
    by_itself: bool = True
    quants: tuple[str, ...] = tuple(MIXES)
    graphics: bool = True
    codec: CodecBackend | None = None

    def missing(self) -> str | None:
        """The library, if anything."""
        return None if installed() else "no llama.cpp library: pip install xllamacpp"

    def quant(self, wished: Quants) -> Quants:
        """The same. Raises BackendError."""
        if wished.talker.lower() in self.quants:
            return wished
        raise nothing_like(self, wished.talker)

    def convert(self, quants: Quants, job: ConversionJob) -> Path:
        """To GGUF."""
        return convert_to(GGUFWeights.of(quants.talker, quants.predictor), job)

    def open(self, setting: Setting) -> GgmlCore:
        """Nothing is loaded yet."""
        return GgmlCore(setting)
