"""ExecuTorch as a backend: XNNPACK on processors, all three parts; exports for other delegates."""

from __future__ import annotations

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
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.executorch.codec import ExecutorchCodecDecoder, TokenizerSource, exported_codec
from s2s.tts.qwen3.executorch.delegates import XNNPACK, delegate_named
from s2s.tts.qwen3.executorch.language import open_predictor, open_talker
from s2s.tts.qwen3.executorch.program import missing, use_threads
from s2s.tts.qwen3.executorch.quant import EXPORT_MIXES
from s2s.tts.qwen3.executorch.weights import ExecutorchWeights
from s2s.tts.qwen3.interfaces import PredictorState, State, Talker

_IN_PLACE_OF = {
    "q4_k_m": "et-8",
    "q5_k_m": "et-8",
    "q6_k": "et-8",
    "q8_0": "et-8",
    "bf16": "et-f32",
    "f32": "et-f32",
}
"""What there is for a GGUF quantisation: the next with as many bits or more. q4_k_m has 4.8 bits a
weight, et-4 has 4.5."""


@dataclass(frozen=True, slots=True)
class ExecutorchCore:
    """Talker and predictor."""

    setting: Setting

    def talker(self, folder: Path, gpu_layers: int) -> tuple[Talker[State], str]:
        """See `Core`; what computes was chosen when it was exported."""
        talker, quant = open_talker(folder, self.setting.spec)
        return as_talker(talker), quant

    def predictor(
        self, folder: Path, gpu_layers: int, draft_tokens: int
    ) -> tuple[DraftingPredictor[PredictorState], str]:
        """See `Core`."""
        predictor, quant = open_predictor(folder, self.setting.spec, draft_tokens)
        return as_predictor(predictor), quant

    def use_threads(self, threads: int) -> bool:
        """The runtime's are the process' own."""
        use_threads(threads)
        return True

    @property
    def remarks(self) -> tuple[str, ...]:
        """See `Core`; there is nothing to say."""
        return ()


class ExecutorchCodec:
    """The codec in float32, on the processor or another delegate by its name ("coreml", ...)."""

    def missing(self) -> str | None:
        """The package, if anything."""
        return missing()

    def open(self, job: CodecJob) -> CheckpointDecoder:
        """The decoder; exported on first use. Raises Qwen3Error."""
        delegate = delegate_named(XNNPACK if job.device == CPU else job.device).name
        reason = missing()
        if reason is not None:
            raise BackendError(reason)
        source = TokenizerSource(job.spec, job.tensors, job.content_hash)
        path = exported_codec(source, job.graphs, delegate)
        use_threads(job.threads)
        return ExecutorchCodecDecoder(job.spec, job.tensors, path, delegate)


_CODEC = ExecutorchCodec()


@dataclass(frozen=True, slots=True)
class ExecutorchBackend:
    """See `Backend`."""

    name: str = "executorch"
    by_itself: bool = False
    """To be named: its first use is an export, of minutes and gigabytes."""
    by_itself_on: str = CPU
    quants: tuple[str, ...] = tuple(EXPORT_MIXES)
    graphics: bool = False
    codec: CodecBackend = _CODEC

    def missing(self) -> str | None:
        """The package, if anything."""
        return missing()

    def quant(self, wished: Quants) -> Quants:
        """Its own, or what is nearest to a GGUF quantisation. Raises BackendError."""
        return nearest(self, wished, _IN_PLACE_OF)

    def convert(self, quants: Quants, job: ConversionJob) -> Path:
        """To programs: an export."""
        return convert_to(ExecutorchWeights.of(quants.talker, quants.predictor), job)

    def open(self, setting: Setting) -> ExecutorchCore:
        """Nothing is loaded yet. Raises BackendError without the package."""
        reason = missing()
        if reason is not None:
            raise BackendError(reason)
        use_threads(setting.threads)
        return ExecutorchCore(setting)
