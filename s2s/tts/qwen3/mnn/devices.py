"""MNN's back ends: their names and options, as they are written behind an "@" in a placement.

"opencl:precision=normal" is a back end with an option. Names after MNN's documentation; run here:
cpu. MNN itself takes the processor, and says so in a line of print, where it was built without a
back end: here that is an error (`session`).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field

from s2s.tts.qwen3.errors import MnnError

CPU = "cpu"
INSTALL = "MNN is not installed: pip install 's2s[mnn]'"


@dataclass(frozen=True, slots=True)
class KnownBackEnd:
    """A back end: its number in MNN, and how an MNN is built that has it."""

    number: int
    built: str


_NPU = 5
"""CoreML, NNAPI and QNN have one number: an MNN is built with one of them."""

BACK_ENDS = {
    CPU: KnownBackEnd(0, "it is in every MNN"),
    "metal": KnownBackEnd(1, "-DMNN_METAL=ON, macOS and iOS"),
    "cuda": KnownBackEnd(2, "-DMNN_CUDA=ON"),
    "opencl": KnownBackEnd(3, "-DMNN_OPENCL=ON"),
    "vulkan": KnownBackEnd(7, "-DMNN_VULKAN=ON"),
    "coreml": KnownBackEnd(_NPU, "-DMNN_COREML=ON, macOS and iOS"),
    "nnapi": KnownBackEnd(_NPU, "-DMNN_NNAPI=ON, Android"),
    "qnn": KnownBackEnd(_NPU, "-DMNN_QNN=ON and Qualcomm's SDK, Android"),
}
"""By the names of placements."""

PROCESSOR = (0, 13)
"""What MNN calls the processor: with instructions beyond the least, by another number."""

_OPTIONS: Mapping[str, Mapping[str, int]] = {
    "precision": {"high": 1, "normal": 0, "low": 2},
    "power": {"normal": 0, "high": 1, "low": 2},
}
"""Values of the options, and their numbers in MNN."""


@dataclass(frozen=True, slots=True)
class MnnDevice:
    """A back end with its options."""

    name: str = CPU
    options: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def known(self) -> KnownBackEnd:
        """What is known of it."""
        return BACK_ENDS[self.name]

    @property
    def processor(self) -> bool:
        """It is the processor, whose memory this program shares."""
        return self.name == CPU

    @property
    def config(self) -> dict[str, int]:
        """What a session is made with. Numbers are computed in float32 unless it is said
        otherwise: the codec is not exact in less."""
        said = {"precision": "high", **self.options}
        numbers = {name: _OPTIONS[name][value] for name, value in said.items()}
        return {"backend": self.known.number, **numbers}


def missing() -> str | None:
    """What is not there and how to get it; None when MNN is installed."""
    return INSTALL if importlib.util.find_spec("MNN") is None else None


def device_named(text: str) -> MnnDevice:
    """From "cpu", "" (the same), or "opencl:precision=normal,power=high".

    Raises MnnError that names what there is.
    """
    name, _, written = text.strip().lower().partition(":")
    name = name or CPU
    if name not in BACK_ENDS:
        raise MnnError(f"{name!r} is no back end of MNN; known: {', '.join(BACK_ENDS)}")
    options = dict(_option(name, each) for each in written.split(",") if each.strip())
    return MnnDevice(name, options)


def _option(device: str, text: str) -> tuple[str, str]:
    name, equals, value = (each.strip() for each in text.partition("="))
    if not equals:
        raise MnnError(f"{text.strip()!r} is no option of mnn@{device}: write NAME=VALUE")
    if name not in _OPTIONS:
        raise MnnError(f"mnn@{device} has no option {name!r}; known: {', '.join(_OPTIONS)}")
    if value not in _OPTIONS[name]:
        able = ", ".join(_OPTIONS[name])
        raise MnnError(f"mnn@{device}: {name} cannot be {value!r}; it can be {able}")
    return name, value
