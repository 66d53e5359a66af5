"""Speech without a pause, for minutes: part of benchmark_qwen3.py, which reads the options."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter, process_time

from s2s.bench.conditions import Neighbours, peak_memory_mb, resident_memory_mb, temperature_c
from s2s.bench.qwen3.settings import BenchSetting, open_setting, warm
from s2s.tts.qwen3 import FRAME_MS


@dataclass(frozen=True, slots=True)
class Move:
    """A part that is computed elsewhere from some moment on: "minute:part=placement"."""

    minute: float
    part: str
    placement: str

    @classmethod
    def of(cls, text: str) -> Move:
        """From "5:codec=onnx". Raises ValueError for anything else."""
        minute, _, rest = text.partition(":")
        part, _, placement = rest.partition("=")
        if part not in ("talker", "predictor", "codec") or not placement:
            raise ValueError(f"{text!r}: write MINUTE:PART=PLACEMENT, such as 5:codec=onnx")
        return cls(float(minute), part, placement)


@dataclass(frozen=True, slots=True)
class Soak:
    """What it took; one value an utterance in each list."""

    label: str
    minutes: list[float] = field(default_factory=list)
    """Since the start, when the utterance was over."""
    rtf: list[float] = field(default_factory=list)
    cpu_cores: list[float] = field(default_factory=list)
    """Cores that this process kept busy meanwhile."""
    temperature_c: list[float] = field(default_factory=list)
    """Of the processor; empty where the system does not tell."""
    resident_mb: list[float] = field(default_factory=list)
    moved: list[tuple[float, str, float]] = field(default_factory=list)
    """Parts that were moved: minute, what and where to, and the milliseconds it took."""
    peak_memory_mb: float = 0.0
    audio_s: float = 0.0
    others_cores: float | None = None


def soak(setting: BenchSetting, minutes: float, moves: tuple[Move, ...] = ()) -> Soak:
    """Speak one utterance after the other for so many minutes."""
    model = open_setting(setting)
    bench = warm(model, setting.chunk_frames)
    neighbours = Neighbours()
    label = setting.label
    at, rtf, memory_mb, cores, heat = (list[float]() for _ in range(5))
    moved: list[tuple[float, str, float]] = []
    left = sorted(moves, key=lambda move: move.minute)
    began_s = perf_counter()
    while not at or at[-1] < minutes:
        while left and at and at[-1] >= left[0].minute:
            move, started_s = left.pop(0), perf_counter()
            model.move(**{move.part: move.placement})
            took_ms = round(1000 * (perf_counter() - started_s), 1)
            moved.append((at[-1], f"{move.part} to {move.placement}", took_ms))
        busy_s, wall_s = process_time(), perf_counter()
        run = bench.utterance(setting.frames, len(at))
        cores.append(round((process_time() - busy_s) / (perf_counter() - wall_s), 2))
        rtf.append(round(run.arrivals.real_time_factor, 3))
        memory_mb.append(round(resident_memory_mb(), 1))
        degrees = temperature_c()
        if degrees is not None:
            heat.append(round(degrees, 1))
        at.append(round((perf_counter() - began_s) / 60, 3))
    model.close()
    return Soak(
        label=label,
        minutes=at,
        rtf=rtf,
        cpu_cores=cores,
        temperature_c=heat,
        resident_mb=memory_mb,
        moved=moved,
        peak_memory_mb=round(peak_memory_mb(), 1),
        audio_s=round(len(at) * setting.frames * FRAME_MS / 1000, 1),
        others_cores=neighbours.busy_cores(),
    )


def show_soak(found: Soak) -> None:
    """Print the sums."""
    memory_mb, heat = found.resident_mb, found.temperature_c
    degrees = f"{min(heat)} to {max(heat)} °C" if heat else "temperature not told by the system"
    print(
        f"{found.label}: {found.minutes[-1]} minutes, {found.audio_s} s of sound in "
        f"{len(found.rtf)} utterances, others kept {found.others_cores} cores busy\n"
        f"RTF {min(found.rtf)} to {max(found.rtf)}; {min(found.cpu_cores)} to "
        f"{max(found.cpu_cores)} cores; {degrees}; memory {memory_mb[0]} MB after the first, "
        f"{memory_mb[len(memory_mb) // 2]} half-way, {memory_mb[-1]} at the end, "
        f"{found.peak_memory_mb} at most"
    )
    for minute, what, took_ms in found.moved:
        print(f"minute {minute}: {what}, {took_ms} ms between two utterances")
