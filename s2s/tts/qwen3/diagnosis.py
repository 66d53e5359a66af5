"""What can be said before a model is loaded: what it can do, what computes it here, how fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from s2s.tts.qwen3.backends import BACKENDS
from s2s.tts.qwen3.calibrate.cache import CalibrationCache, Speed
from s2s.tts.qwen3.checkpoint.hub import PUBLISHED, PUBLISHED_SPEAKERS, local
from s2s.tts.qwen3.checkpoint.spec import Kind, read_spec
from s2s.tts.qwen3.errors import KernelError, Qwen3Error
from s2s.tts.qwen3.fixed.providers import providers_here
from s2s.tts.qwen3.folders import CALIBRATION_FILE, CONVERTED_FOLDER, KERNEL_FOLDER
from s2s.tts.qwen3.native.library import described


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found."""

    kernel: str
    """Where the kernel comes from, and of which level it is; "" where there is none."""
    remedy: str
    """What to do when there is none; else ""."""
    speeds: Mapping[str, Speed]
    """By model and how it is run, where that was measured here."""
    cores: tuple[str, ...] = ()
    """Those that can be had here and of which the fastest is taken, likeliest fastest first."""
    named: tuple[str, ...] = ()
    """Those that can be had here where they are named."""
    providers: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Of ONNX Runtime, for the core "fixed": those that can be tried here, and the others."""


def diagnose(home: Path) -> Diagnosis:
    """Looks, computes nothing."""
    speeds = CalibrationCache(home / CALIBRATION_FILE).speeds()
    able = [backend for backend in BACKENDS if backend.missing() is None]
    cores = tuple(backend.name for backend in able if backend.by_itself)
    named = tuple(backend.name for backend in able if not backend.by_itself)
    try:
        kernel, remedy = described(home / KERNEL_FOLDER), ""
    except KernelError as error:
        kernel, remedy = "", str(error)
    return Diagnosis(kernel, remedy, speeds, cores, named, providers_here())


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a model can do, as far as that is known without it."""

    kind: Kind
    speakers: frozenset[str] = frozenset()
    """Of a CustomVoice model."""


def foresee(source: str | Path, home: Path) -> Foreseen | None:
    """Of a model on this machine, or a published one; None of any other, and of one that cannot be
    read: opening it says why."""
    try:
        found = local(source, home.expanduser() / CONVERTED_FOLDER)
        if found is not None:
            spec = read_spec(found.folder)
            return Foreseen(spec.kind, frozenset(spec.speakers))
    except (Qwen3Error, OSError):
        return None
    names = {**{name: name for name in PUBLISHED}, **{v.lower(): k for k, v in PUBLISHED.items()}}
    short = names.get(str(source).lower())
    if short is None:
        return None
    if short.endswith("-base"):
        return Foreseen(Kind.BASE)
    if short.endswith("-voicedesign"):
        return Foreseen(Kind.VOICE_DESIGN)
    return Foreseen(Kind.CUSTOM_VOICE, frozenset(PUBLISHED_SPEAKERS))
