"""Which backend computes the talker and the code predictor, and where.

``native``: the compiled kernel, where there is a C compiler. ``onnx``: ONNX Runtime on the
processor. ``ggml``: llama.cpp on the processor or a graphics card. All read a checkpoint that was
converted for them, once.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.checkpoint.tables import TableEmbeddings, open_tables
from s2s.tts.qwen3.convert import Progress, convert, silent
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.errors import BackendError, KernelError
from s2s.tts.qwen3.ggml import language as ggml
from s2s.tts.qwen3.interfaces import CodePredictor, PredictorState, State, Talker
from s2s.tts.qwen3.native import language as native
from s2s.tts.qwen3.native.library import find_compiler
from s2s.tts.qwen3.native.transformer import Team
from s2s.tts.qwen3.onnx import language as onnx_model
from s2s.tts.qwen3.onnx.quant import BLOCK_MIXES
from s2s.tts.qwen3.voices.enrol import CONVERTED_FOLDER

NATIVE, ONNX, GGML = "native", "onnx", "ggml"
AUTO = "auto"
KERNEL_FOLDER = "kernels"

_ALL_LAYERS = 1 << 16
_ONLY_GGML = ("f32", "bf16")
_BLOCK_QUANTS = {"q4_k_m": "int4", "q5_k_m": "int8", "q6_k": "int8", "q8_0": "int8"}
"""What ONNX Runtime has in place of a GGUF quantisation: the next with as many bits or more."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a port is computed: a backend, and how many layers of it on a graphics card."""

    backend: str
    gpu_layers: int = 0

    @classmethod
    def parse(cls, text: str) -> Place:
        """From "native", "onnx", "ggml", "ggml@gpu" (all of it) or "ggml@gpu:20" (20 layers).

        Raises BackendError for anything else.
        """
        backend, at, device = text.strip().lower().partition("@")
        if backend not in (NATIVE, ONNX, GGML):
            raise BackendError(f"unknown backend {text!r}; known: {NATIVE}, {ONNX}, {GGML}")
        if not at or device == "cpu":
            return cls(backend)
        name, colon, layers = device.partition(":")
        if name != "gpu" or (colon and not layers.isdigit()):
            raise BackendError(f"{text!r}: write {backend}@gpu or {backend}@gpu:LAYERS")
        if backend != GGML:
            raise BackendError(f"{text!r}: only {GGML} computes on a graphics card")
        return cls(backend, int(layers) if colon else _ALL_LAYERS)

    def __str__(self) -> str:
        if not self.gpu_layers:
            return self.backend
        layers = "" if self.gpu_layers == _ALL_LAYERS else f":{self.gpu_layers}"
        return f"{self.backend}@gpu{layers}"


@dataclass(frozen=True, slots=True)
class Quants:
    """Of talker and predictor; None is the default beside the talker's."""

    talker: str
    predictor: str | None = None

    def of(self, backend: str) -> Quants:
        """What a backend computes in their stead. Raises BackendError when it has nothing near."""
        block = self.talker.lower() in BLOCK_MIXES
        if backend != ONNX:
            if block:
                raise BackendError(f"{self.talker} is a quantisation of {ONNX}, not of {backend}")
            if backend == NATIVE and self.talker.lower() in _ONLY_GGML:
                raise BackendError(f"{self.talker} is more than {NATIVE} computes in; take {GGML}")
            return self
        if block:
            return self
        names = [None if name is None else name.lower() for name in (self.talker, self.predictor)]
        found = [None if name is None else _BLOCK_QUANTS.get(name) for name in names]
        if found[0] is None or (names[1] is not None and found[1] is None):
            raise BackendError(
                f"{ONNX} has nothing like {self.talker}; it has {', '.join(BLOCK_MIXES)}"
            )
        return Quants(found[0], found[1])


@dataclass(frozen=True, slots=True)
class Opened:
    """A language model, and what it was made from."""

    folder: Path
    """The converted checkpoint (the talker's, where there are two)."""
    language: LanguageModel[State, PredictorState]
    talker: Place
    predictor: Place
    quants: Quants
    """As computed."""
    use_draft_tokens: Callable[[int], None]
    """Changes how many draft tokens are verified in each predictor pass, from the next frame on."""
    use_threads: Callable[[int], None] | None
    """Changes how many threads compute; None where that is fixed."""


def available(quants: Quants) -> list[str]:
    """The backends that can be had on this machine for a quantisation, likeliest fastest first.

    Raises BackendError that says what to install when there is none.
    """
    missing: list[str] = []
    found: list[str] = []
    lacks = ((NATIVE, _lacks_native), (ONNX, _lacks_onnx), (GGML, _lacks_ggml))
    for backend, lacking in lacks:
        try:
            quants.of(backend)
        except BackendError:
            continue
        reason = lacking()
        if reason is None:
            found.append(backend)
        else:
            missing.append(f"{backend}: {reason}")
    if not found:
        raise BackendError(f"no backend for {quants.talker}: " + "; ".join(missing))
    return found


def open_language(
    source: str | Path,
    home: Path,
    quants: Quants,
    places: tuple[Place, Place],
    *,
    threads: int,
    draft_tokens: int = 0,
    kernels: Path | None = None,
    progress: Progress = silent,
) -> Opened:
    """Find, convert and open talker and predictor at their places.

    home: where converted models lie, and the compiled kernel unless ``kernels`` is given.

    Raises BackendError, and what ``convert`` and the backends raise.
    """
    folders: dict[str, Path] = {}
    for place in places:
        wanted = quants.of(place.backend)
        if wanted.talker not in folders:
            folders[wanted.talker] = convert(
                source,
                wanted.talker,
                predictor_quant=wanted.predictor,
                converted=home / CONVERTED_FOLDER,
                threads=threads,
                progress=progress,
            )
    at = [folders[quants.of(place.backend).talker] for place in places]
    spec = read_spec(at[0])
    opener = _Opener(spec, threads, draft_tokens, (kernels or home) / KERNEL_FOLDER)
    talker, talker_quant = opener.talker(places[0], at[0])
    predictor, predictor_quant = opener.predictor(places[1], at[1])
    embeddings = TableEmbeddings(open_tables(at[0]), spec)
    ports = cast("tuple[Talker[State], CodePredictor[PredictorState]]", (talker, predictor))
    use_threads = None
    if isinstance(talker, native.NativeTalker) and isinstance(predictor, native.NativePredictor):
        use_threads = _switch(talker, predictor, opener.kernels)

    def use_draft_tokens(draft_tokens: int) -> None:
        predictor.draft_tokens = draft_tokens

    return Opened(
        at[0],
        LanguageModel(spec, embeddings, *ports),
        *places,
        Quants(talker_quant, predictor_quant),
        use_draft_tokens,
        use_threads,
    )


@dataclass(slots=True)
class _Opener:
    """Opens ports; two on the kernel share its threads."""

    spec: Spec
    threads: int
    draft_tokens: int
    kernels: Path
    _team: Team | None = None

    def talker(
        self, place: Place, folder: Path
    ) -> tuple[native.NativeTalker | onnx_model.OnnxTalker | ggml.GgmlTalker, str]:
        """A talker and its quantisation."""
        if place.backend == NATIVE:
            return native.open_talker(folder, self.spec, self._shared_team())
        if place.backend == ONNX:
            return onnx_model.open_talker(folder, self.spec, self.threads)
        return ggml.open_talker(folder, self.spec, self.threads, place.gpu_layers)

    def predictor(
        self, place: Place, folder: Path
    ) -> tuple[native.NativePredictor | onnx_model.OnnxPredictor | ggml.GgmlPredictor, str]:
        """A code predictor and its quantisation."""
        if place.backend == NATIVE:
            return native.open_predictor(folder, self.spec, self._shared_team(), self.draft_tokens)
        if place.backend == ONNX:
            return onnx_model.open_predictor(folder, self.spec, self.threads, self.draft_tokens)
        return ggml.open_predictor(
            folder, self.spec, self.threads, place.gpu_layers, self.draft_tokens
        )

    def _shared_team(self) -> Team:
        if self._team is None:
            self._team = Team(self.kernels, self.threads)
        return self._team


def _switch(
    talker: native.NativeTalker, predictor: native.NativePredictor, cache: Path
) -> Callable[[int], None]:
    def use_threads(threads: int) -> None:
        team = Team(cache, threads)
        talker.use(team)
        predictor.use(team)

    return use_threads


def _lacks_native() -> str | None:
    try:
        find_compiler()
    except KernelError as error:
        return str(error)
    return _lacks_ggml()  # which makes the K-quants


def _lacks_onnx() -> str | None:
    if importlib.util.find_spec("onnxruntime") is None:
        return "onnxruntime is not installed: pip install 's2s[qwen3]'"
    return None


def _lacks_ggml() -> str | None:
    return None if installed() else "no llama.cpp library: pip install xllamacpp"
