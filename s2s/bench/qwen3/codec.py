"""Measure the Qwen3-TTS codec decoder: what a frame of 80 ms costs, and that splitting is exact.

    python scripts/benchmark_qwen3_codec.py                      full size, random weights
    python scripts/benchmark_qwen3_codec.py --checkpoint PATH/speech_tokenizer
    python scripts/benchmark_qwen3_codec.py --device onnx native   ONNX Runtime, compiled kernel

Prints a table and, last, one line of JSON with the conditions. "First" is the first call on a new
state, one frame: what the decoder adds to the time to first sound. "CPU" is processor time: unlike
the clock it says something on a busy machine too. Random weights cost what trained ones do.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from s2s.bench.conditions import Conditions, peak_memory_mb
from s2s.bench.entry import existing_folder
from s2s.core.metrics import percentile
from s2s.testing.random_checkpoint import write_codec
from s2s.tts.qwen3 import CheckpointDecoder, CodecState, open_decoder

FRAME_MS = 80.0
WARM_FRAMES = 80  # fills the attention window
CHECKED_FRAMES = 48


@dataclass(frozen=True, slots=True)
class CodecRow:
    """Milliseconds a frame, for one device, number of threads and of frames a call."""

    device: str
    threads: int
    frames: int
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    rtf: float


@dataclass(frozen=True, slots=True)
class CodecReport:
    """The JSON line."""

    rows: list[CodecRow]
    first_call_ms: dict[str, dict[int, float]]
    build_s: dict[str, float]
    load_s: dict[str, float]
    streaming_snr_db: dict[str, float]
    peak_memory_mb: float
    weights: str
    runs: int
    conditions: Conditions


def main() -> None:
    """Parse, measure, print."""
    arguments = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.checkpoint or Path(scratch) / "random"
        if arguments.checkpoint is None:
            write_codec(folder, tiny=arguments.tiny)
        report = measure(folder, Path(scratch) / "cache", arguments)
    show(report)
    print(json.dumps(asdict(report)))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--checkpoint", type=existing_folder, help="folder instead of random weights"
    )
    parser.add_argument("--tiny", action="store_true", help="tiny random weights: a dry run")
    parser.add_argument(
        "--device",
        nargs="+",
        default=["onnx"],
        help="as `tts.codec` takes them: onnx, native, ...",
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--frames", type=int, nargs="+", default=[1, 2, 4, 8], help="frames a call")
    parser.add_argument("--runs", type=int, default=20, help="calls a measure is taken from")
    return parser.parse_args(arguments)


def measure(folder: Path, cache: Path, arguments: argparse.Namespace) -> CodecReport:
    """Everything, one device after the other."""
    report = CodecReport(
        rows=[],
        first_call_ms={},
        build_s={},
        load_s={},
        streaming_snr_db={},
        peak_memory_mb=0.0,
        weights="random" if arguments.checkpoint is None else str(arguments.checkpoint.name),
        runs=arguments.runs,
        conditions=Conditions.here(),
    )
    for device in arguments.device:
        measure_device(device, folder, cache, arguments, report)
    return replace(report, peak_memory_mb=round(peak_memory_mb(), 1))


def measure_device(
    device: str, folder: Path, cache: Path, arguments: argparse.Namespace, report: CodecReport
) -> None:
    """One number of threads after the other, into the report."""
    random = np.random.default_rng(0)
    first: dict[int, float] = {}
    opened_s: list[float] = []
    for threads in [arguments.threads[0], *arguments.threads]:  # the first one builds the graphs
        started = time.perf_counter()
        decoder = open_decoder(folder, cache, threads=threads, placement=device)
        opened_s.append(time.perf_counter() - started)
        if len(opened_s) == 1:
            del decoder
            continue
        size = decoder.codebook_size
        codes = random.integers(0, size, (WARM_FRAMES + max(arguments.frames), 16))
        warm = decoder.new_state()
        decoder.decode(warm, codes[:WARM_FRAMES])
        first[threads] = round(min(first_call_ms(decoder, codes) for _ in range(3)), 1)
        for frames in arguments.frames:
            part = codes[WARM_FRAMES:][:frames]
            walls_ms, cpus_ms = calls(decoder, decoder.fork(warm), part, arguments.runs)
            report.rows.append(row(device, threads, frames, walls_ms, cpus_ms))
        snr_db = streaming_snr_db(decoder, codes[:CHECKED_FRAMES])
        report.streaming_snr_db[device] = round(snr_db, 1)
        del decoder, warm  # or two sets of weights would count as peak memory
    report.first_call_ms[device] = first
    report.build_s[device] = round(opened_s[0], 1)
    report.load_s[device] = round(min(opened_s[1:]), 1)


def first_call_ms(decoder: CheckpointDecoder, codes: np.ndarray) -> float:
    """One frame on a new state."""
    started = time.perf_counter()
    decoder.decode(decoder.new_state(), codes[:1])
    return 1000 * (time.perf_counter() - started)


def calls(
    decoder: CheckpointDecoder, state: CodecState, codes: np.ndarray, runs: int
) -> tuple[list[float], list[float]]:
    """Calls with the given codes, on a state whose window is full: milliseconds a frame by the
    clock and of the processor."""
    wall_ms: list[float] = []
    cpu_ms: list[float] = []
    for _ in range(runs):
        started, busy = time.perf_counter(), time.process_time()
        decoder.decode(state, codes)
        wall_ms.append(1000 * (time.perf_counter() - started) / len(codes))
        cpu_ms.append(1000 * (time.process_time() - busy) / len(codes))
    return wall_ms, cpu_ms


def row(
    device: str, threads: int, frames: int, wall_ms: list[float], cpu_ms: list[float]
) -> CodecRow:
    """A line of the table."""
    p50_ms = percentile(wall_ms, 0.5)
    return CodecRow(
        device=device,
        threads=threads,
        frames=frames,
        p50_ms=round(p50_ms, 2),
        p95_ms=round(percentile(wall_ms, 0.95), 2),
        cpu_ms=round(min(cpu_ms), 2),
        rtf=round(p50_ms / FRAME_MS, 3),
    )


def streaming_snr_db(decoder: CheckpointDecoder, codes: np.ndarray) -> float:
    """One frame a call against one call, as a signal-to-noise ratio."""
    whole = decoder.decode(decoder.new_state(), codes).astype(np.float64)
    state = decoder.new_state()
    split = np.concatenate([decoder.decode(state, frame[None]) for frame in codes])
    noise = np.mean(np.square(split - whole))
    return float(10 * np.log10(np.mean(np.square(whole)) / max(noise, 1e-30)))


def show(report: CodecReport) -> None:
    """Print the table."""
    for device, first_ms in report.first_call_ms.items():
        first = ", ".join(f"{ms} ms on {n} thread(s)" for n, ms in first_ms.items())
        print(
            f"{device}: built in {report.build_s[device]} s, loaded in {report.load_s[device]} s; "
            f"first frame {first}; "
            f"streaming against one call {report.streaming_snr_db[device]} dB"
        )
    print(f"peak memory {report.peak_memory_mb} MB")
    print(
        f"{'device':>8} {'threads':>8} {'frames':>7} {'p50 ms':>8} {'p95 ms':>8} {'CPU ms':>8} "
        f"{'RTF':>7}"
    )
    for each in report.rows:
        print(
            f"{each.device:>8} {each.threads:>8} {each.frames:>7} {each.p50_ms:>8} "
            f"{each.p95_ms:>8} {each.cpu_ms:>8} {each.rtf:>7}"
        )
