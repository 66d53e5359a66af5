"""Graphs of fixed shapes on ONNX Runtime as a backend: each part on a provider that is named."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakSet

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
from s2s.tts.qwen3.checkpoint.quant import MIXES
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.fixed.language import open_predictor, open_talker
from s2s.tts.qwen3.fixed.providers import OpenedGraphs, Provider, provider_named
from s2s.tts.qwen3.fixed.trial import LanguageTrial, admitted_codec
from s2s.tts.qwen3.fixed.weights import FIXED_F32, FIXED_MIXES, FixedWeights
from s2s.tts.qwen3.interfaces import PredictorState, State, Talker

_IN_PLACE_OF = dict.fromkeys(MIXES, FIXED_F32)
"""What there is for a GGUF quantisation: all of them have fewer bits."""


@dataclass(frozen=True, slots=True)
class FixedCore:
    """Talker and predictor on one provider."""

    setting: Setting
    provider: Provider
    # Weak: a part that was moved elsewhere frees its weights.
    opened: WeakSet[OpenedGraphs] = field(default_factory=WeakSet[OpenedGraphs])

    def talker(self, folder: Path, gpu_layers: int) -> tuple[Talker[State], str]:
        """See `Core`; the provider is the backend's."""
        setting = self.setting
        talker, part = open_talker(folder, setting.spec, self.provider, setting.threads)
        trial = LanguageTrial(folder, setting.spec, setting.threads)
        part.graphs.admit(lambda: trial.talker(as_talker(talker)))
        self.opened.add(part.graphs)
        return as_talker(talker), part.quant

    def predictor(
        self, folder: Path, gpu_layers: int, draft_tokens: int
    ) -> tuple[DraftingPredictor[PredictorState], str]:
        """See `Core`."""
        setting = self.setting
        predictor, part = open_predictor(
            folder, setting.spec, self.provider, setting.threads, draft_tokens
        )
        trial = LanguageTrial(folder, setting.spec, setting.threads)
        part.graphs.admit(lambda: trial.predictor(as_predictor(predictor)))
        self.opened.add(part.graphs)
        return as_predictor(predictor), part.quant

    def use_threads(self, threads: int) -> bool:
        """Fixed when a session is made."""
        return False

    @property
    def remarks(self) -> tuple[str, ...]:
        """See `Core`: what the provider could not take."""
        return tuple(sorted(part.remark for part in self.opened if part.remark))


class FixedCodec:
    """The codec, on the provider that the job names."""

    def missing(self) -> str | None:
        """The package, if anything."""
        if importlib.util.find_spec("onnxruntime") is None:
            return "onnxruntime is not installed: pip install 's2s[qwen3]'"
        return None

    def open(self, job: CodecJob) -> CheckpointDecoder:
        """The decoder; graphs are built on first use. Raises CodecError, ProviderError for a
        provider that there is not."""
        return admitted_codec(job, provider_named(job.device))


_CODEC = FixedCodec()


@dataclass(frozen=True, slots=True)
class FixedBackend:
    """See `Backend`."""

    device: str = CPU
    """A provider as `provider_named` reads it."""
    by_itself: bool = False
    by_itself_on: str = CPU
    quants: tuple[str, ...] = tuple(FIXED_MIXES)
    graphics: bool = False
    codec: CodecBackend = _CODEC

    @property
    def name(self) -> str:
        """With the provider, where it is not the processor."""
        return "fixed" if self.device == CPU else f"fixed@{self.device}"

    def on(self, device: str) -> FixedBackend:
        """The same on another provider. Raises ProviderError for one that there is not."""
        name, colon, options = device.strip().partition(":")
        found = f"{name.lower()}{colon}{options}" or CPU
        provider_named(found)
        return FixedBackend(found)

    def missing(self) -> str | None:
        """The package, or what the provider lacks."""
        return self.codec.missing() or provider_named(self.device).missing()

    def quant(self, wished: Quants) -> Quants:
        """Its own in place of a GGUF quantisation. Raises BackendError."""
        return nearest(self, wished, _IN_PLACE_OF)

    def convert(self, quants: Quants, job: ConversionJob) -> Path:
        """To graphs, the same for all providers."""
        return convert_to(FixedWeights.of(quants.talker, quants.predictor), job)

    def open(self, setting: Setting) -> FixedCore:
        """Nothing is loaded yet."""
        return FixedCore(setting, provider_named(self.device))
