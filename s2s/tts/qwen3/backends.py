"""The backends, likeliest fastest first: what a setting's text means, and which can be had here."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from s2s.system.graphics import cuda_cards_here
from s2s.tts.qwen3.backend import (
    ALL_LAYERS,
    CPU,
    Backend,
    CodecBackend,
    DevicePlacement,
    Quants,
)
from s2s.tts.qwen3.errors import BackendError, ConvertError
from s2s.tts.qwen3.executorch.backend import ExecutorchBackend
from s2s.tts.qwen3.fixed.backend import FixedBackend
from s2s.tts.qwen3.ggml.backend import GgmlBackend
from s2s.tts.qwen3.mlx.backend import MlxBackend
from s2s.tts.qwen3.mnn.backend import MnnBackend
from s2s.tts.qwen3.native.backend import NativeBackend
from s2s.tts.qwen3.onnx.backend import OnnxBackend

log = logging.getLogger(__name__)

_LIKELIEST = {"darwin": ("mlx",)}
"""Of a system, by `sys.platform`: what is likelier fastest than those that are so elsewhere.
Nothing of it is measured yet: docs/decisions/qwen3-order-before-measuring.md."""


def in_order(backends: Iterable[Backend], platform: str) -> tuple[Backend, ...]:
    """The backends of a system, likeliest fastest first; where nothing is said, as given."""
    first = _LIKELIEST.get(platform, ())
    return tuple(sorted(backends, key=lambda backend: backend.name not in first))


BACKENDS: tuple[Backend, ...] = in_order(
    (
        NativeBackend(),
        OnnxBackend(),
        GgmlBackend(),
        MlxBackend(),
        FixedBackend(),
        MnnBackend(),
        ExecutorchBackend(),
    ),
    sys.platform,
)
"""Another one is a folder with a `Backend`, and its line here."""

AUTO = "auto"
DEFAULT_QUANT = "q4_k_m"


def backend_named(name: str) -> Backend:
    """Raises BackendError that names the known ones."""
    for backend in BACKENDS:
        if backend.name == name:
            return backend
    known = ", ".join(each.name for each in BACKENDS)
    raise BackendError(f"unknown backend {name!r}; known: {known}")


def device_placement(text: str) -> DevicePlacement:
    """From "native", "onnx", "mlx", "ggml", "ggml@gpu" (all of it), "ggml@gpu:20" (20 layers),
    "fixed", "fixed@coreml" (a provider of ONNX Runtime, see `fixed.providers`), "mnn",
    "mnn@opencl" (a back end of MNN, see `mnn.devices`), or "executorch".

    Raises BackendError for anything else.
    """
    name, at, device = text.strip().partition("@")
    backend = backend_named(name.lower())
    if isinstance(backend, FixedBackend | MnnBackend):
        return DevicePlacement(backend.on(device))
    device = device.lower()
    if not at or device == CPU:
        return DevicePlacement(backend)
    card, colon, layers = device.partition(":")
    if card != "gpu" or (colon and not layers.isdigit()):
        raise BackendError(f"{text!r}: write {name}@gpu or {name}@gpu:LAYERS")
    if not backend.graphics:
        able = " or ".join(each.name for each in BACKENDS if each.graphics)
        raise BackendError(f"{text!r}: only {able} computes on a graphics card")
    return DevicePlacement(backend, int(layers) if colon else ALL_LAYERS)


@dataclass(frozen=True, slots=True)
class CodecPlacement:
    """What decodes codes, and on which of its devices."""

    name: str
    codec: CodecBackend
    device: str = CPU


def codec_placement(text: str) -> CodecPlacement:
    """From "native", "onnx", "mlx", "onnx@cuda" (a device by ONNX Runtime's name for it), "fixed"
    or "fixed@coreml" (likewise, in graphs of fixed shapes), "mnn" or "mnn@opencl" (a back end of
    MNN), "executorch" or "executorch@coreml" (a delegate that a program is exported for).

    "cpu" and "cuda" alone, as they were once written, are read as "onnx" and "onnx@cuda".
    Raises BackendError for a backend without a codec.
    """
    name, _, device = text.strip().partition("@")
    name = name.lower()
    able = {each.name: each.codec for each in BACKENDS if each.codec is not None}
    codec = able.get(name)
    if codec is not None:
        return CodecPlacement(name, codec, device or CPU)
    if device or any(each.name == name for each in BACKENDS):
        raise BackendError(f"{text!r}: {', '.join(able)} decode, {name} does not")
    meant = "onnx" if name == CPU else f"onnx@{name}"
    log.warning("codec %r is now written %r", text, meant)
    return codec_placement(meant)


def quant_on(backend: Backend, wished: Quants) -> Quants:
    """What the backend computes in place of what is wished.

    Raises BackendError, which names who could.
    """
    try:
        return backend.quant(wished)
    except BackendError as error:
        able = [each.name for each in BACKENDS if wished.talker.lower() in each.quants]
        hint = f"; take {' or '.join(able)}" if able else ""
        raise BackendError(f"{error}{hint}") from None


def available(quants: Quants) -> list[Backend]:
    """The backends that can be had on this machine for a quantisation, likeliest fastest first.

    Raises BackendError that says what to install when there is none, ConvertError for a
    quantisation that there is not.
    """
    backend_with(quants.talker)
    missing: list[str] = []
    found: list[Backend] = []
    for backend in BACKENDS:
        if not backend.by_itself:
            continue
        try:
            backend.quant(quants)
        except BackendError:
            continue
        reason = backend.missing()
        if reason is None:
            found.append(backend)
        else:
            missing.append(f"{backend.name}: {reason}")
    if not found:
        raise BackendError(f"no backend for {quants.talker}: " + "; ".join(missing))
    return found


@dataclass(frozen=True, slots=True)
class Candidates:
    """The backends of which the fastest is taken, where none is named."""

    backends: tuple[Backend, ...]
    instead: str = ""
    """Why another quantisation than the wished one is computed, and which; "" when it is not."""

    @property
    def places(self) -> tuple[str, ...]:
        """Where each computes, as `device_placement` reads it: on a graphics card where it has
        one, and these first."""
        places = [by_itself(backend.name) for backend in self.backends]
        return tuple(sorted(places, key=lambda place: "@" not in place))


def candidates(quants: Quants, platform: str = sys.platform) -> Candidates:
    """The backends on this machine that compute in just this quantisation, and what is likeliest
    fastest on its system in the next one. Only where there are none, all in the next one.

    Raises as `available` does.
    """
    found = available(quants)
    first = _LIKELIEST.get(platform, ())
    exact = tuple(each for each in found if each.name in first or _same(each.quant(quants), quants))
    if exact:
        return Candidates(exact)
    missing = [
        f"{each.name}: {each.missing()}"
        for each in BACKENDS
        if quants.talker.lower() in each.quants and each.missing() is not None
    ]
    made = found[0].quant(quants).talker
    return Candidates(
        tuple(found), f"{made} in place of {quants.talker} ({'; '.join(missing) or 'not here'})"
    )


def _same(made: Quants, wished: Quants) -> bool:
    def named(quants: Quants) -> tuple[str, str]:
        return quants.talker.lower(), (quants.predictor or "").lower()

    return named(made) == named(wished)


def cards_of_onnxruntime() -> tuple[str, ...]:
    """Where the codec is computed on a graphics card without being told, as `codec_placement` reads
    it: NVIDIA's, where onnxruntime has a provider for it. Talker and predictor are not, as their
    graphs take gigabytes of the disk: docs/decisions/qwen3-graphics-cards.md."""
    if not cuda_cards_here():
        return ()
    on_cuda = FixedBackend("cuda")
    return () if on_cuda.missing() else (on_cuda.name,)


def by_itself(text: str) -> str:
    """A placement in which no device is named, with the device that the backend takes by itself.

    Raises BackendError for a backend that there is not.
    """
    if "@" in text:
        return text
    backend = backend_named(text.strip().lower())
    device = backend.by_itself_on
    return backend.name if device == CPU else f"{backend.name}@{device}"


def backend_with(quant: str) -> Backend:
    """The first backend that has a quantisation. Raises ConvertError that lists all there are."""
    for backend in BACKENDS:
        if quant.lower() in backend.quants:
            return backend
    ordered = sorted(BACKENDS, key=lambda backend: backend.name != "ggml")  # GGUF's own names first
    known = dict.fromkeys(name for backend in ordered for name in backend.quants)
    raise ConvertError(f"unknown quant {quant!r}; known: {', '.join(known)}")
