"""MNN as a backend: all three parts, on a back end of MNN that is named."""

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
from s2s.tts.qwen3.errors import MnnError
from s2s.tts.qwen3.interfaces import PredictorState, State, Talker
from s2s.tts.qwen3.mnn.codec import MnnCodecDecoder
from s2s.tts.qwen3.mnn.devices import MnnDevice, device_named, missing
from s2s.tts.qwen3.mnn.language import open_predictor, open_talker
from s2s.tts.qwen3.mnn.quant import MNN_MIXES
from s2s.tts.qwen3.mnn.weights import MnnWeights

_IN_PLACE_OF = {
    "q4_k_m": "mnn-4",
    "q5_k_m": "mnn-8",
    "q6_k": "mnn-8",
    "q8_0": "mnn-8",
    "bf16": "mnn-f32",
    "f32": "mnn-f32",
}
"""What there is for a GGUF quantisation: the next with as many bits or more. q4_k_m has 4.8 bits a
weight, mnn-4 has 5."""


@dataclass(frozen=True, slots=True)
class MnnCore:
    """Talker and predictor on one back end."""

    setting: Setting
    device: MnnDevice

    def talker(self, folder: Path, gpu_layers: int) -> tuple[Talker[State], str]:
        """See `Core`; where it is computed is the backend's affair."""
        setting = self.setting
        talker, quant = open_talker(folder, setting.spec, self.device, setting.threads)
        return as_talker(talker), quant

    def predictor(
        self, folder: Path, gpu_layers: int, draft_tokens: int
    ) -> tuple[DraftingPredictor[PredictorState], str]:
        """See `Core`."""
        setting = self.setting
        predictor, quant = open_predictor(
            folder, setting.spec, self.device, setting.threads, draft_tokens
        )
        return as_predictor(predictor), quant

    def use_threads(self, threads: int) -> bool:
        """Fixed when a session is made."""
        return False

    @property
    def remarks(self) -> tuple[str, ...]:
        """See `Core`; a back end that is not there is an error."""
        return ()


class MnnCodec:
    """The codec in float32, on the back end that the job names."""

    def missing(self) -> str | None:
        """The package, if anything."""
        return missing()

    def open(self, job: CodecJob) -> CheckpointDecoder:
        """The decoder; its graph is converted on first use. Raises CodecError, and MnnError for a
        back end that there is not."""
        reason = missing()
        if reason is not None:
            raise MnnError(reason)
        return MnnCodecDecoder.of(job)


_CODEC = MnnCodec()


@dataclass(frozen=True, slots=True)
class MnnBackend:
    """See `Backend`."""

    device: str = CPU
    """A back end as `device_named` reads it."""
    by_itself: bool = False
    by_itself_on: str = CPU
    quants: tuple[str, ...] = tuple(MNN_MIXES)
    graphics: bool = False
    codec: CodecBackend = _CODEC

    @property
    def name(self) -> str:
        """With the back end, where it is not the processor."""
        return "mnn" if self.device == CPU else f"mnn@{self.device}"

    def on(self, device: str) -> MnnBackend:
        """The same on another back end. Raises MnnError for one that there is not."""
        found = device.strip().lower() or CPU
        device_named(found)
        return MnnBackend(found)

    def missing(self) -> str | None:
        """The package, if anything."""
        return missing()

    def quant(self, wished: Quants) -> Quants:
        """Its own, or what is nearest to a GGUF quantisation. Raises BackendError."""
        return nearest(self, wished, _IN_PLACE_OF)

    def convert(self, quants: Quants, job: ConversionJob) -> Path:
        """To MNN's files, the same for all back ends."""
        return convert_to(MnnWeights.of(quants.talker, quants.predictor), job)

    def open(self, setting: Setting) -> MnnCore:
        """Nothing is loaded yet. Raises MnnError without the package."""
        reason = missing()
        if reason is not None:
            raise MnnError(reason)
        return MnnCore(setting, device_named(self.device))
