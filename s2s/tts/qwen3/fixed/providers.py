"""Execution providers of ONNX Runtime: their short names, their options, and a graph opened on one.

"coreml:ModelFormat=MLProgram,MLComputeUnits=ALL" is a provider with options, by onnxruntime's own
names for them. A provider that cannot take a graph says why; the graph then runs on the processor,
and nothing of that happens unsaid. Names and values after onnxruntime's documentation of each
provider; run here: cpu.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from s2s.tts.qwen3.errors import OnnxError, ProviderError
from s2s.tts.qwen3.fixed.admission import Measure, Measured, PartAdmission
from s2s.tts.qwen3.fixed.provider_options import check_options
from s2s.tts.qwen3.onnx.session import open_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

log = logging.getLogger(__name__)

CPU = "cpu"
_CPU_PROVIDER = "CPUExecutionProvider"
_NO_PACKING = {"session.disable_prepacking": "1"}
"""Several graphs have the same weights: read from the file where they lie, they are in memory
once."""


class Provider(Protocol):
    """What computes a graph."""

    @property
    def name(self) -> str:
        """As it is written in a placement."""
        ...

    def missing(self) -> str | None:
        """What is not there and how to get it; None when it can be tried."""
        ...

    def open(self, graph: Path, threads: int) -> InferenceSession:
        """The graph, ready to run on it. Raises ProviderError with the reason when it cannot take
        the graph; OnnxError for a graph that nothing can."""
        ...

    def admit(self, part: str, folder: Path, measure: Measure) -> PartAdmission:
        """Whether it may compute a part, whose graphs lie in the folder; ``measure`` compares it
        with the processor, for a provider that rounds. Raises what ``measure`` does."""
        ...


_SWITCH = ("0", "1")
_ANY = ()


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """A provider of onnxruntime: its name there, what it is given, and the values that its options
    may have, by name; of `_ANY` each."""

    runtime: str
    package: str
    """Where it comes from."""
    given: Mapping[str, str] = field(default_factory=dict[str, str])
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    cache: str = ""
    """Option that names a folder for what it compiles; "" where it keeps nothing."""
    beside: tuple[str, ...] = ()
    """What takes the operators that it leaves, before the processor does."""


_CUDA = KnownProvider(
    "CUDAExecutionProvider",
    "pip install onnxruntime-gpu, with CUDA and cuDNN",
    {"use_tf32": "0"},
    {
        "device_id": _ANY,
        "gpu_mem_limit": _ANY,
        "arena_extend_strategy": ("kNextPowerOfTwo", "kSameAsRequested"),
        "cudnn_conv_algo_search": ("EXHAUSTIVE", "HEURISTIC", "DEFAULT"),
        "cudnn_conv_use_max_workspace": _SWITCH,
        "do_copy_in_default_stream": _SWITCH,
        "enable_cuda_graph": _SWITCH,
        "prefer_nhwc": _SWITCH,
        "use_tf32": _SWITCH,
    },
)

_TENSORRT = KnownProvider(
    "TensorrtExecutionProvider",
    "pip install onnxruntime-gpu tensorrt, with CUDA and cuDNN",
    {"trt_engine_cache_enable": "1"},
    {
        "device_id": _ANY,
        "trt_fp16_enable": _SWITCH,
        "trt_bf16_enable": _SWITCH,
        "trt_max_workspace_size": _ANY,
        "trt_builder_optimization_level": ("0", "1", "2", "3", "4", "5"),
        "trt_engine_cache_enable": _SWITCH,
        "trt_engine_cache_path": _ANY,
        "trt_timing_cache_enable": _SWITCH,
        "trt_timing_cache_path": _ANY,
        "trt_context_memory_sharing_enable": _SWITCH,
        "trt_cuda_graph_enable": _SWITCH,
    },
    cache="trt_engine_cache_path",
    beside=("CUDAExecutionProvider",),
)

_COREML = KnownProvider(
    "CoreMLExecutionProvider",
    "it is in the onnxruntime of macOS",
    {"ModelFormat": "MLProgram", "RequireStaticInputShapes": "1"},
    {
        "ModelFormat": ("MLProgram", "NeuralNetwork"),
        "MLComputeUnits": ("ALL", "CPUOnly", "CPUAndGPU", "CPUAndNeuralEngine"),
        "RequireStaticInputShapes": _SWITCH,
        "EnableOnSubgraphs": _SWITCH,
        "SpecializationStrategy": ("Default", "FastPrediction"),
        "ProfileComputePlan": _SWITCH,
        "AllowLowPrecisionAccumulationOnGPU": _SWITCH,
        "ModelCacheDirectory": _ANY,
    },
    cache="ModelCacheDirectory",
)

KNOWN: dict[str, KnownProvider] = {
    CPU: KnownProvider(_CPU_PROVIDER, "it is in every onnxruntime"),
    "cuda": _CUDA,
    "tensorrt": _TENSORRT,
    "coreml": _COREML,
}
"""By the short names of placements."""


@dataclass(frozen=True, slots=True)
class RuntimeProvider:
    """One of `KNOWN` with its options."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def known(self) -> KnownProvider:
        """What is known of it."""
        return KNOWN[self.name]

    def missing(self) -> str | None:
        """See `Provider`: names what the installed onnxruntime has."""
        from onnxruntime import get_available_providers

        here = get_available_providers()
        if self.known.runtime in here:
            return None
        short = ", ".join(sorted(_short(name) for name in here))
        return f"onnxruntime has no {self.name} here, only {short} ({self.known.package})"

    def open(self, graph: Path, threads: int) -> InferenceSession:
        """See `Provider`."""
        if self.name == CPU:
            return open_session(graph, threads, entries=_NO_PACKING)
        reason = self.missing()
        if reason is not None:
            raise ProviderError(reason)
        known = self.known
        options = {**known.given, **self.options}
        if known.cache:
            compiled = graph.parent / f"compiled-{self.name}-{_digest(options)}"
            compiled.mkdir(exist_ok=True)
            options.setdefault(known.cache, str(compiled))
        providers = ((known.runtime, options), *known.beside, _CPU_PROVIDER)
        try:
            session = open_session(graph, threads, providers=providers)
        except OnnxError as error:
            raise ProviderError(f"{self.name} cannot take {graph.name} ({error})") from error
        if known.runtime not in session.get_providers():
            raise ProviderError(
                f"{self.name} could not be loaded ({known.package}); onnxruntime says more on "
                "the standard error output"
            )
        return session

    def admit(self, part: str, folder: Path, measure: Measure) -> PartAdmission:
        """See `Provider`: each is taken at its word."""
        return PartAdmission()


def _digest(options: Mapping[str, str]) -> str:
    """Stands for options and for this onnxruntime: CoreML's provider knows what it has compiled by
    the graph's path alone, and would run what other options made."""
    import onnxruntime

    made = repr((onnxruntime.__version__, sorted(options.items())))
    return hashlib.blake2b(made.encode(), digest_size=4).hexdigest()


def _short(runtime: str) -> str:
    """A provider as it is written in a placement."""
    for name, known in KNOWN.items():
        if known.runtime == runtime:
            return name
    return runtime.removesuffix("ExecutionProvider").lower()


ProviderMaker = Callable[[Mapping[str, str]], Provider]
"""Makes a provider with options. Raises ProviderError for one that it does not know."""


def _runtime_maker(name: str) -> ProviderMaker:
    def made(options: Mapping[str, str]) -> Provider:
        check_options(name, options, KNOWN[name].options)
        return RuntimeProvider(name, options)

    return made


def _qnn(options: Mapping[str, str]) -> Provider:
    from s2s.tts.qwen3.fixed.qnn.provider import qnn_provider  # it is made of what is here

    return qnn_provider(options)


PROVIDERS: dict[str, ProviderMaker] = {name: _runtime_maker(name) for name in KNOWN} | {"qnn": _qnn}
"""Another one is a `ProviderMaker` and its line here."""


def provider_named(text: str) -> Provider:
    """From "cuda", or "coreml:MLComputeUnits=CPUOnly" with options, several with commas between.

    Raises ProviderError that names what there is.
    """
    name, _, written = text.strip().partition(":")
    maker = PROVIDERS.get(name.lower())
    if maker is None:
        raise ProviderError(f"{name!r} is no provider; known: {', '.join(PROVIDERS)}")
    return maker(dict(_option(each) for each in written.split(",") if each.strip()))


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.strip().partition("=")
    if not equals or not name or not value:
        raise ProviderError(f"{text.strip()!r} is no option of a provider: write NAME=VALUE")
    return name.strip(), value.strip()


def providers_here() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The short names of the providers that can be tried here, and of those that cannot; neither
    without onnxruntime."""
    if importlib.util.find_spec("onnxruntime") is None:
        return (), ()
    missing = {name: maker({}).missing() for name, maker in PROVIDERS.items()}
    here = tuple(name for name, reason in missing.items() if reason is None)
    return here, tuple(name for name, reason in missing.items() if reason is not None)


class OpenedGraphs:
    """The graphs of one part of a model, each opened when it is first needed: on its provider, or
    all on the processor from the first one on that the provider cannot take."""

    def __init__(self, part: str, folder: Path, provider: Provider, threads: int) -> None:
        """part: for messages, such as "talker"."""
        self._part = part
        self._folder = folder
        self._provider = provider
        self._threads = threads
        self._reason = self._said = ""
        self._lock = Lock()
        self._open: dict[str, InferenceSession] = {}

    @property
    def remark(self) -> str:
        """Where the part is computed if not where it was asked for, and why; or what its provider
        has to say of it; else ""."""
        if self._reason:
            return f"{self._part} on the processor: {self._reason}"
        return f"{self._part} on {self._said}" if self._said else ""

    def admit(self, measure: Callable[[], Measured]) -> None:
        """Let the provider compare itself with the processor, and leave the part to that one if it
        may not compute it. Raises what ``measure`` does, but for ProviderError."""
        if self._reason:
            return

        def measured() -> Measured:
            found = measure()
            if self._reason:
                raise ProviderError(self._reason)  # what was measured is the processor
            return found

        try:
            found = self._provider.admit(self._part, self._folder, measured)
        except ProviderError:
            return
        with self._lock:
            self._said = found.said
            if found.refused:
                self._open.clear()
                self._leave(found.refused)

    def session(self, name: str, version: int) -> InferenceSession:
        """A graph by its file's name without the ending. Raises OnnxError for one that is missing,
        damaged, or of another version."""
        with self._lock:
            found = self._open.get(name)
            if found is None:
                found = self._open[name] = self._opened(name, version)
            return found

    def _opened(self, name: str, version: int) -> InferenceSession:
        path = self._folder / f"{name}.onnx"
        if not path.is_file():
            raise OnnxError(f"{path} is missing; convert the checkpoint")
        session = self._taken(path)
        found = session.get_modelmeta().custom_metadata_map.get("version")
        if found != str(version):
            raise OnnxError(
                f"{path} has version {found}, this program needs {version}: convert it again"
            )
        return session

    def _taken(self, path: Path) -> InferenceSession:
        if not self._reason:
            try:
                return self._provider.open(path, self._threads)
            except ProviderError as error:
                self._leave(str(error))
        return RuntimeProvider(CPU).open(path, self._threads)

    def _leave(self, reason: str) -> None:
        """To the processor."""
        self._reason = reason
        log.warning("%s on the processor: %s", self._part, reason)
