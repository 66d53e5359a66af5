"""MLX as a backend: Apple's graphics processors, all three parts."""

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
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.interfaces import PredictorState, State, Talker
from s2s.tts.qwen3.mlx.codec import MlxCodecDecoder
from s2s.tts.qwen3.mlx.language import open_predictor, open_talker
from s2s.tts.qwen3.mlx.quant import AFFINE_MIXES, DEFAULT_MIX
from s2s.tts.qwen3.mlx.weights import MlxWeights

_IN_PLACE_OF = {
    "q4_k_m": DEFAULT_MIX,
    "q5_k_m": "mlx-6",
    "q6_k": "mlx-8",
    "q8_0": "mlx-8",
    "bf16": "mlx-bf16",
    "f32": "mlx-f32",
}
"""What there is for a GGUF quantisation: the next with as many bits or more. q4_k_m has 4.8 bits a
weight, mlx-4 has 4.5 and mlx-6 6.5."""


@dataclass(frozen=True, slots=True)
class MlxCore:
    """Talker and predictor."""

    setting: Setting

    def talker(self, folder: Path, gpu_layers: int) -> tuple[Talker[State], str]:
        """See `Core`; MLX itself chooses between processor and graphics processor."""
        talker, quant = open_talker(folder, self.setting.spec)
        return as_talker(talker), quant

    def predictor(
        self, folder: Path, gpu_layers: int, draft_tokens: int
    ) -> tuple[DraftingPredictor[PredictorState], str]:
        """See `Core`."""
        predictor, quant = open_predictor(folder, self.setting.spec, draft_tokens)
        return as_predictor(predictor), quant

    def use_threads(self, threads: int) -> bool:
        """MLX has its own."""
        return False

    @property
    def remarks(self) -> tuple[str, ...]:
        """See `Core`; there is nothing to say."""
        return ()


class MlxCodec:
    """The codec in float32."""

    def missing(self) -> str | None:
        """The package, if anything."""
        if importlib.util.find_spec("mlx") is None:
            return "mlx is not installed: pip install mlx (Macs with Apple's processors)"
        return None

    def open(self, job: CodecJob) -> CheckpointDecoder:
        """The decoder. Raises CodecError, and BackendError for a device by name."""
        if job.device != CPU:
            raise BackendError(f"mlx@{job.device}: MLX chooses its device itself; write mlx")
        reason = self.missing()
        if reason is not None:
            raise BackendError(reason)
        return MlxCodecDecoder(job.spec, job.tensors)


_CODEC = MlxCodec()


@dataclass(frozen=True, slots=True)
class MlxBackend:
    """See `Backend`."""

    name: str = "mlx"
    by_itself: bool = True
    by_itself_on: str = CPU
    quants: tuple[str, ...] = tuple(AFFINE_MIXES)
    graphics: bool = False
    codec: CodecBackend = _CODEC

    def missing(self) -> str | None:
        """The package, if anything."""
        return self.codec.missing()

    def quant(self, wished: Quants) -> Quants:
        """Its own, or what is nearest to a GGUF quantisation. Raises BackendError."""
        return nearest(self, wished, _IN_PLACE_OF)

    def convert(self, quants: Quants, job: ConversionJob) -> Path:
        """To MLX's layout."""
        return convert_to(MlxWeights.of(quants.talker, quants.predictor), job)

    def open(self, setting: Setting) -> MlxCore:
        """Nothing is loaded yet. Raises BackendError without the package."""
        reason = self.missing()
        if reason is not None:
            raise BackendError(reason)
        return MlxCore(setting)
