"""llama.cpp as a backend: every quantisation, on the processor or a graphics card."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

from s2s.system.llama_context import CardUse, on_card
from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.backend import (
    CPU,
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
from s2s.tts.qwen3.errors import LlamaError
from s2s.tts.qwen3.ggml.language import (
    GgmlPredictor,
    GgmlTalker,
    open_predictor,
    open_talker,
)
from s2s.tts.qwen3.ggml.library import library
from s2s.tts.qwen3.interfaces import PredictorState, State, Talker

log = logging.getLogger(__name__)


class GgmlCore:
    """Talker and predictor, each with threads of its own."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        # Weak: a part that was moved elsewhere frees its weights.
        self._said: WeakKeyDictionary[GgmlTalker | GgmlPredictor, str] = WeakKeyDictionary()

    def talker(self, folder: Path, gpu_layers: int) -> tuple[Talker[State], str]:
        """See `Core`."""
        setting = self._setting
        opened = partial(open_talker, folder, setting.spec, setting.threads)
        (talker, quant), use = on_card(library(), gpu_layers, opened)
        self._say(talker, "talker", gpu_layers, use)
        return as_talker(talker), quant

    def predictor(
        self, folder: Path, gpu_layers: int, draft_tokens: int
    ) -> tuple[DraftingPredictor[PredictorState], str]:
        """See `Core`."""
        setting = self._setting

        def opened(layers: int) -> tuple[GgmlPredictor, str]:
            return open_predictor(folder, setting.spec, setting.threads, layers, draft_tokens)

        (predictor, quant), use = on_card(library(), gpu_layers, opened)
        self._say(predictor, "code predictor", gpu_layers, use)
        return as_predictor(predictor), quant

    def use_threads(self, threads: int) -> bool:
        """Fixed when a context is made."""
        return False

    @property
    def remarks(self) -> tuple[str, ...]:
        """See `Core`: what a graphics card did not take."""
        return tuple(sorted(self._said.values()))

    def _say(
        self, part: GgmlTalker | GgmlPredictor, name: str, gpu_layers: int, use: CardUse
    ) -> None:
        if gpu_layers and not use.card:
            reason = use.refused or f"{library().path.name} has no graphics card here"
            self._said[part] = f"{name} on the processor: {reason}"
            log.warning("qwen3: %s", self._said[part])


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

    @property
    def by_itself_on(self) -> str:
        """See `Backend`: a graphics card that the library was built for and found."""
        try:
            return "gpu" if library().graphics_cards() else CPU
        except LlamaError:
            return CPU

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
