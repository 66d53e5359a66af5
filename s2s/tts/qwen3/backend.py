"""What a backend of Qwen3-TTS has to be: the contract between `model` and the folders that compute.

Adding a backend is adding a folder with a `Backend` and a line in `backends`. Knows no backend.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, cast

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.interfaces import CodePredictor, PredictorState, State, Talker

CPU = "cpu"
ALL_LAYERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Quants:
    """Names of the quantisations of talker and predictor; None is the usual beside the talker's."""

    talker: str
    predictor: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What a language model is opened with."""

    spec: Spec
    threads: int
    kernels: Path
    """Where compiled kernels are kept."""


P = TypeVar("P", bound=PredictorState)
T = TypeVar("T", bound=State)


class DraftingPredictor(CodePredictor[P], Protocol[P]):
    """A code predictor that can verify draft tokens."""

    draft_tokens: int
    """How many in each forward pass; may be changed between frames."""

    def accept_at_rate(self, rate: float) -> None:
        """For benchmarks of random weights, whose draft tokens are accepted as no trained model's
        are: from the next frame on each is accepted with this probability. The codes mean
        nothing."""
        ...


class Core(Protocol):
    """A backend at work on one model: its parts share threads."""

    def talker(self, folder: Path, gpu_layers: int) -> tuple[Talker[State], str]:
        """The talker of a converted checkpoint, and what it is quantised to."""
        ...

    def predictor(
        self, folder: Path, gpu_layers: int, draft_tokens: int
    ) -> tuple[DraftingPredictor[PredictorState], str]:
        """The code predictor of a converted checkpoint, and what it is quantised to."""
        ...

    def use_threads(self, threads: int) -> bool:
        """So many threads from the next frame on; False where their number is fixed."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """Each part that is computed elsewhere than it was asked for, and why."""
        ...


@dataclass(frozen=True, slots=True)
class CodecJob:
    """A speech tokenizer, and how its decoder is to be opened."""

    spec: CodecDecoderSpec
    tensors: Checkpoint
    content_hash: str
    device: str
    """"cpu", or a device by the backend's own name."""
    threads: int
    graphs: Path
    """Where graphs are kept."""
    kernels: Path
    """Where compiled kernels are kept."""


class CodecBackend(Protocol):
    """The part of a backend that makes sound of codes."""

    def missing(self) -> str | None:
        """What is missing on this machine and how to get it; None when it works."""
        ...

    def open(self, job: CodecJob) -> CheckpointDecoder:
        """The decoder. Raises Qwen3Error, also for a device that is not there."""
        ...


class Backend(Protocol):
    """One way to compute the language model, and where it can do that the codec too."""

    @property
    def name(self) -> str:
        """As it is written in settings."""
        ...

    @property
    def by_itself(self) -> bool:
        """It is among those of which the fastest is taken; else it has to be named."""
        ...

    @property
    def by_itself_on(self) -> str:
        """The device on which it computes the language model where none is named."""
        ...

    @property
    def quants(self) -> tuple[str, ...]:
        """The quantisations it computes in."""
        ...

    @property
    def graphics(self) -> bool:
        """Layers of the language model can go to a graphics card."""
        ...

    @property
    def codec(self) -> CodecBackend | None:
        """What decodes; None when it computes only the language model."""
        ...

    def missing(self) -> str | None:
        """What the language model lacks on this machine and how to get it; None when it works."""
        ...

    def quant(self, wished: Quants) -> Quants:
        """What it computes in place of what is wished: that, or the next with as many bits or more.

        Raises BackendError when it has nothing near.
        """
        ...

    def convert(self, quants: Quants, job: ConversionJob) -> Path:
        """The folder of the checkpoint as it opens it, made if need be; quants: of its own.

        Raises Qwen3Error: HubError, SpecError, CheckpointError, ConvertError.
        """
        ...

    def open(self, setting: Setting) -> Core:
        """Raises BackendError when it cannot be had on this machine."""
        ...


def nearest(backend: Backend, wished: Quants, in_place_of: Mapping[str, str]) -> Quants:
    """What is wished where the backend computes it, else what it has in place of each.

    in_place_of: its own, by what they stand in for: the next with as many bits or more.

    Raises BackendError when it has nothing near.
    """
    if wished.talker.lower() in backend.quants:
        return wished
    talker = in_place_of.get(wished.talker.lower())
    predictor = in_place_of.get((wished.predictor or "").lower())
    if talker is None or (wished.predictor is not None and predictor is None):
        raise nothing_like(backend, wished.talker)
    return Quants(talker, predictor)


def nothing_like(backend: Backend, quant: str) -> BackendError:
    """What to raise for a quantisation that a backend has no near one of: it lists its own."""
    own = ", ".join(backend.quants)
    return BackendError(f"{backend.name} has nothing like {quant}; it has {own}")


@dataclass(frozen=True, slots=True)
class DevicePlacement:
    """Where a part of the language model is computed: a backend, and how many layers of it on a
    graphics card."""

    backend: Backend
    gpu_layers: int = 0

    def __str__(self) -> str:
        if not self.gpu_layers:
            return self.backend.name
        layers = "" if self.gpu_layers == ALL_LAYERS else f":{self.gpu_layers}"
        return f"{self.backend.name}@gpu{layers}"


# The two casts below are all there are: docs/decisions/qwen3-backend-objects.md says why.


def as_talker(talker: Talker[T]) -> Talker[State]:
    """The same talker, of whose states no more is known than that it has made them itself."""
    return cast("Talker[State]", talker)


def as_predictor(predictor: DraftingPredictor[P]) -> DraftingPredictor[PredictorState]:
    """The same predictor, likewise."""
    return cast("DraftingPredictor[PredictorState]", predictor)
