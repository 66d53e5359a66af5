"""Speech without a pause, for minutes: part of benchmark_qwen3.py, which reads the options."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from s2s.bench.conditions import Neighbours, peak_memory_mb, resident_memory_mb
from s2s.bench.qwen3.settings import BenchSetting, open_setting, warm
from s2s.tts.qwen3 import FRAME_MS


@dataclass(frozen=True, slots=True)
class Soak:
    """What it took; one value an utterance in each list."""

    label: str
    minutes: list[float]
    """Since the start, when the utterance was over."""
    rtf: list[float]
    resident_mb: list[float]
    peak_memory_mb: float
    audio_s: float
    others_cores: float | None


def soak(setting: BenchSetting, minutes: float) -> Soak:
    """Speak one utterance after the other for so many minutes."""
    model = open_setting(setting)
    at: list[float] = []
    rtf: list[float] = []
    memory_mb: list[float] = []
    bench = warm(model, setting.chunk_frames)
    neighbours = Neighbours()
    began_s = perf_counter()
    while not at or at[-1] < minutes:
        run = bench.utterance(setting.frames, len(at))
        rtf.append(round(run.arrivals.real_time_factor, 3))
        memory_mb.append(round(resident_memory_mb(), 1))
        at.append(round((perf_counter() - began_s) / 60, 3))
    model.close()
    return Soak(
        label=setting.label,
        minutes=at,
        rtf=rtf,
        resident_mb=memory_mb,
        peak_memory_mb=round(peak_memory_mb(), 1),
        audio_s=round(len(at) * setting.frames * FRAME_MS / 1000, 1),
        others_cores=neighbours.busy_cores(),
    )


def show_soak(found: Soak) -> None:
    """Print the sums."""
    memory_mb = found.resident_mb
    print(
        f"{found.label}: {found.minutes[-1]} minutes, {found.audio_s} s of sound in "
        f"{len(found.rtf)} utterances, others kept {found.others_cores} cores busy\n"
        f"RTF {min(found.rtf)} to {max(found.rtf)}; memory {memory_mb[0]} MB after the first, "
        f"{memory_mb[len(memory_mb) // 2]} half-way, {memory_mb[-1]} at the end, "
        f"{found.peak_memory_mb} at most"
    )
