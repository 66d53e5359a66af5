"""ONNX Runtime as a backend: no compiler and no llama.cpp; the codec also on its accelerators."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from s2s.tts.qwen3.backend import (
    CPU,
    CodecBackend,
    CodecJob,
    DraftingPredictor,
    Quants,
    Setting,
    as_predictor,
    as_talker,
    nearest,
)
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob, convert_to
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.interfaces import PredictorState, State, Talker
from s2s.tts.qwen3.onnx.codec import OnnxCodecDecoder
from s2s.tts.qwen3.onnx.language import open_predictor, open_talker
from s2s.tts.qwen3.onnx.quant import BLOCK_MIXES
from s2s.tts.qwen3.onnx.weights import OnnxWeights

_IN_PLACE_OF = {"q4_k_m": "int4", "q5_k_m": "int8", "q6_k": "int8", "q8_0": "int8"}
"""What there is for a GGUF quantisation: the next with as many bits or more."""


@dataclass(frozen=True, slots=True)
class OnnxCore:
    """Talker and predictor, each with threads of its own."""

    setting: Setting

    def talker(self, folder: Path, gpu_layers: int) -> tuple[Talker[State], str]:
        """See `Core`; a graphics card is not used."""
        talker, quant = open_talker(folder, self.setting.spec, self.setting.threads)
        return as_talker(talker), quant

    def predictor(
        self, folder: Path, gpu_layers: int, draft_tokens: int
    ) -> tuple[DraftingPredictor[PredictorState], str]:
        """See `Core`."""
        setting = self.setting
        predictor, quant = open_predictor(folder, setting.spec, setting.threads, draft_tokens)
        return as_predictor(predictor), quant

    def use_threads(self, threads: int) -> bool:
        """Fixed when a session is made."""
        return False

    @property
    def remarks(self) -> tuple[str, ...]:
        """See `Core`; there is nothing to say."""
        return ()


class OnnxCodec:
    """The codec in graphs, on the processor or an accelerator by its short name ("cuda", ...)."""

    def missing(self) -> str | None:
        """The package, if anything."""
        if importlib.util.find_spec("onnxruntime") is None:
            return "onnxruntime is not installed: pip install 's2s[qwen3]'"
        return None

    def open(self, job: CodecJob) -> CheckpointDecoder:
        """The decoder; graphs are built on first use. Raises CodecError."""
        return OnnxCodecDecoder.open(
            job.spec,
            job.tensors,
            job.graphs,
            job.content_hash,
            threads=job.threads,
            device=job.device,
        )


_CODEC = OnnxCodec()


@dataclass(frozen=True, slots=True)
class OnnxBackend:
    """See `Backend`."""

    name: str = "onnx"
    by_itself: bool = True
    by_itself_on: str = CPU
    quants: tuple[str, ...] = tuple(BLOCK_MIXES)
    graphics: bool = False
    codec: CodecBackend = _CODEC

    def missing(self) -> str | None:
        """The package, if anything."""
        return self.codec.missing()

    def quant(self, wished: Quants) -> Quants:
        """Its own, or what is nearest to a GGUF quantisation. Raises BackendError."""
        return nearest(self, wished, _IN_PLACE_OF)

    def convert(self, quants: Quants, job: ConversionJob) -> Path:
        """To graphs."""
        return convert_to(OnnxWeights.of(quants.talker, quants.predictor), job)

    def open(self, setting: Setting) -> OnnxCore:
        """Nothing is loaded yet."""
        return OnnxCore(setting)
