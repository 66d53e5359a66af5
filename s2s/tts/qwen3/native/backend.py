"""The compiled kernel as a backend: the fastest on a processor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from weakref import WeakSet

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.backend import (
    CPU,
    CodecBackend,
    CodecJob,
    DraftingPredictor,
    Quants,
    Setting,
    as_predictor,
    as_talker,
    nothing_like,
)
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob, convert_to
from s2s.tts.qwen3.checkpoint.gguf_weights import GGUFWeights
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.errors import BackendError, CodecError, KernelError
from s2s.tts.qwen3.interfaces import PredictorState, State, Talker
from s2s.tts.qwen3.native.codec import NativeCodecDecoder
from s2s.tts.qwen3.native.kept import Origin
from s2s.tts.qwen3.native.language import (
    NativePredictor,
    NativeTalker,
    open_predictor,
    open_talker,
)
from s2s.tts.qwen3.native.library import require_kernel
from s2s.tts.qwen3.native.transformer import ThreadPool

_QUANTS = ("q4_k_m", "q5_k_m", "q6_k", "q8_0")
_TOO_FINE = ("f32", "bf16")


class NativeCore:
    """Talker and predictor on one thread pool."""

    def __init__(self, setting: Setting) -> None:
        """Load the kernel, or compile it. Raises KernelError."""
        self._setting = setting
        self._pool = ThreadPool(setting.kernels, setting.threads)
        # Weak: a part that was moved elsewhere frees its weights.
        self._parts: WeakSet[NativeTalker | NativePredictor] = WeakSet()

    def talker(self, folder: Path, gpu_layers: int) -> tuple[Talker[State], str]:
        """See `Core`; a graphics card is not used."""
        talker, quant = open_talker(folder, self._setting.spec, self._pool)
        self._parts.add(talker)
        return as_talker(talker), quant

    def predictor(
        self, folder: Path, gpu_layers: int, draft_tokens: int
    ) -> tuple[DraftingPredictor[PredictorState], str]:
        """See `Core`."""
        predictor, quant = open_predictor(folder, self._setting.spec, self._pool, draft_tokens)
        self._parts.add(predictor)
        return as_predictor(predictor), quant

    def use_threads(self, threads: int) -> bool:
        """Other threads compute from the next frame on."""
        self._pool = ThreadPool(self._setting.kernels, threads)
        for part in self._parts:
            part.use(self._pool)
        return True

    @property
    def remarks(self) -> tuple[str, ...]:
        """See `Core`; there is nothing to say."""
        return ()


class NativeCodec:
    """The codec on the compiled kernel."""

    def missing(self) -> str | None:
        """The kernel's wheel and a C compiler, if anything."""
        try:
            require_kernel()
        except KernelError as error:
            return str(error)
        return None

    def open(self, job: CodecJob) -> CheckpointDecoder:
        """The decoder. Raises KernelError, CodecError."""
        if job.device != CPU:
            raise CodecError(
                f"the native codec computes on the processor ({CPU}), not on {job.device!r}"
            )
        origin = Origin(job.tensors.path, job.content_hash)
        pool = ThreadPool(job.kernels, job.threads)
        return NativeCodecDecoder(job.spec, job.tensors, pool, origin)


_CODEC = NativeCodec()


@dataclass(frozen=True, slots=True)
class NativeBackend:
    """See `Backend`."""

    name: str = "native"
    by_itself: bool = True
    by_itself_on: str = CPU
    quants: tuple[str, ...] = _QUANTS
    graphics: bool = False
    codec: CodecBackend = _CODEC

    def missing(self) -> str | None:
        """The kernel, or llama.cpp, which makes the K-quants."""
        reason = self.codec.missing()
        if reason is None and not installed():
            reason = "no llama.cpp library: pip install xllamacpp"
        return reason

    def quant(self, wished: Quants) -> Quants:
        """The same, up to eight bits. Raises BackendError."""
        if wished.talker.lower() in self.quants:
            return wished
        if wished.talker.lower() in _TOO_FINE:
            raise BackendError(
                f"{wished.talker} is more than {self.name} computes in; it has "
                f"{', '.join(self.quants)}"
            )
        raise nothing_like(self, wished.talker)

    def convert(self, quants: Quants, job: ConversionJob) -> Path:
        """To GGUF, as ``ggml`` does."""
        return convert_to(GGUFWeights.of(quants.talker, quants.predictor), job)

    def open(self, setting: Setting) -> NativeCore:
        """Raises KernelError."""
        return NativeCore(setting)
