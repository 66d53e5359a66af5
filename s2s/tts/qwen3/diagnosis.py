"""What computes Qwen3-TTS on this machine, and how fast: for `doctor`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from s2s.tts.qwen3.calibrate.cache import CalibrationCache
from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.folders import CALIBRATION_FILE
from s2s.tts.qwen3.native.library import find_compiler


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found."""

    compiler: str
    """Command that compiles the kernel; "" where there is none."""
    remedy: str
    """What to do when there is none; else ""."""
    real_time: Mapping[str, float]
    """Work over sound by model, where it was measured here."""


def diagnose(home: Path) -> Diagnosis:
    """Looks, computes nothing."""
    speeds = CalibrationCache(home / CALIBRATION_FILE).speeds()
    real_time = {name: speed.real_time for name, speed in speeds.items()}
    try:
        return Diagnosis(find_compiler()[0], "", real_time)
    except KernelError as error:
        return Diagnosis("", str(error), real_time)
