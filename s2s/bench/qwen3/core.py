"""Measure the Qwen3-TTS core: what a frame costs part by part, when sound comes, how it stops.

    python scripts/benchmark_tts.py --backend qwen3 --random-weights --size 0.6b --quant q4_k_m
    python scripts/benchmark_tts.py --backend qwen3 --checkpoint FOLDER --threads 2 --picture F.png
    python scripts/benchmark_tts.py --backend qwen3 --checkpoint FOLDER --soak 10 --picture F.png
    ... --soak 10 --move 5:codec=onnx      a part is computed elsewhere from the fifth minute on
    ... --limits     against what this machine's memory and arithmetic allow, measured in the run

Prints a table and, last, one line of JSON with the conditions. WeightSizes may be random (they cost
what trained ones do; made and converted once, which takes minutes and gigabytes of --scratch): an
utterance then has the given number of frames, because a random model does not end by itself.

Frames are counted from text to samples. "RTF" is time until the last sample over seconds of sound.
"First chunk" is when the first sound was there, "uninterrupted start" the earliest moment at which
playback could begin and never run dry. With --emulate-acceptance draft tokens are accepted at
a rate that gives so many codes a pass: an emulation of trained weights, for the time
alone, and labelled so. Needs an otherwise idle machine to mean anything: "others" in the JSON is
how many cores everybody else kept busy meanwhile. Pictures need matplotlib.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from s2s.bench.conditions import Conditions, Neighbours, peak_memory_mb, resident_memory_mb
from s2s.bench.pictures import draw_arrivals, draw_soak
from s2s.bench.qwen3.against_limits import WeightSizes, part_limits, show_limits, sizes
from s2s.bench.qwen3.machine import SINGLE_THREADED, MachineLimits, measure_limits
from s2s.bench.qwen3.settings import (
    WARM_FRAMES,
    BenchSetting,
    open_setting,
    schedule_name,
    warm,
)
from s2s.bench.qwen3.soak import Move, Soak, show_soak, soak
from s2s.bench.qwen3.utterances import PUBLISHED_CODES_A_PASS, Summary, Times, acceptance_rate
from s2s.bench.synthesis import Arrivals
from s2s.models.store import home
from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3 import AUTO, BACKENDS, DEFAULT_QUANT, Qwen3Model
from s2s.tts.qwen3.checkpoint import read_record

R = TypeVar("R")

ABORTED_BY_S = 1.5


@dataclass(frozen=True, slots=True)
class CoreRow:
    """Measures of one setting."""

    label: str
    draft_tokens: int
    emulated_codes_a_pass: float | None
    summary: Summary
    schedule: str
    load_s: float
    resident_loaded_mb: float
    resident_mb: float
    peak_memory_mb: float
    abort: Times | None
    """From the moment a speech goes stale until nothing is computed for it any more."""
    first_chunk_after_aborts_ms: float
    others_cores: float | None


@dataclass(frozen=True, slots=True)
class CoreReport:
    """The JSON line."""

    weights: str
    quant: str
    predictor_quant: str
    backend: str
    size: WeightSizes
    limits: MachineLimits | None
    threads: int
    frames: int
    rows: list[CoreRow]
    soak: Soak | None
    conditions: Conditions

    @property
    def title(self) -> str:
        """What was measured, in words."""
        return (
            f"Qwen3-TTS {self.weights}, talker {self.quant}, predictor {self.predictor_quant}, "
            f"{self.backend}, {self.threads} thread(s), utterances of {self.frames} frames"
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was opened, in words."""

    weights: str
    quant: str
    predictor_quant: str
    backend: str
    size: WeightSizes


def _stop(*_: object) -> None:
    sys.exit("stopped")


def main() -> None:
    """Parse, measure, print."""
    signal.signal(signal.SIGTERM, _stop)  # child processes end with it
    arguments = parse(sys.argv[1:])
    settings = plan(arguments, alone(checkpoint, arguments))
    opened = alone(prepare, settings[0])
    measures: list[tuple[CoreRow, list[Arrivals]]] = []
    soaked: Soak | None = None
    if arguments.soak:
        soaked = alone(soak, settings[-1], arguments.soak, tuple(arguments.move))
    else:
        measures = [alone(measure, setting) for setting in settings]
    limits = limits_of(arguments.threads, opened.size) if arguments.limits else None
    report = CoreReport(
        weights=opened.weights,
        quant=opened.quant,
        predictor_quant=opened.predictor_quant,
        backend=opened.backend,
        size=opened.size,
        limits=limits,
        threads=arguments.threads,
        frames=arguments.frames,
        rows=[row for row, _ in measures],
        soak=soaked,
        conditions=Conditions.here(),
    )
    show(report)
    if limits is not None and report.rows:
        show_limits(limits, part_limits(opened.size, limits, report.rows[0].summary))
    if arguments.picture:
        draw(arguments.picture, report, [arrivals for _, arrivals in measures])
    print(json.dumps(asdict(report)))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--backend", "--tts", choices=["qwen3"], default="qwen3")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--random-weights", action="store_true", help="full size")
    what.add_argument("--tiny", action="store_true", help="tiny random weights: a dry run")
    what.add_argument("--checkpoint", metavar="FOLDER", help="official layout, or converted")
    parser.add_argument("--size", choices=["0.6b", "1.7b"], default="0.6b", help="if random")
    parser.add_argument("--quant", help=f"of the talker; {DEFAULT_QUANT} if not given")
    parser.add_argument("--predictor-quant", help="default: as in use")
    parser.add_argument(
        "--core",
        choices=[AUTO, *(backend.name for backend in BACKENDS)],
        default=AUTO,
        help="what computes the codes",
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--draft-tokens", "--guesses", type=int, default=0, help="codes drafted for a pass"
    )
    parser.add_argument(
        "--emulate-acceptance", type=float, nargs="?", const=PUBLISHED_CODES_A_PASS,
        metavar="CODES", help=f"codes for each forward pass; {PUBLISHED_CODES_A_PASS} if not given",
    )  # fmt: skip
    parser.add_argument("--frames", type=int, default=100, help="of 80 ms, an utterance")
    parser.add_argument("--runs", type=int, default=3, help="utterances a row")
    parser.add_argument("--aborts", type=int, default=8, help="utterances stopped early on")
    parser.add_argument("--chunk-frames", type=int, help="default: chosen by the speed, as in use")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="speak on and on instead")
    parser.add_argument(
        "--move", type=Move.of, action="append", default=[], metavar="MINUTE:PART=PLACEMENT",
        help="with --soak: compute a part elsewhere from then on, such as 5:codec=onnx",
    )  # fmt: skip
    parser.add_argument("--limits", action="store_true", help="measure the machine's as well")
    parser.add_argument("--picture", type=Path, metavar="FILE")
    parser.add_argument("--scratch", type=Path, default=home(), help="for what is made once")
    found = parser.parse_args(arguments)
    if (
        min(found.frames, found.runs, found.threads) < 1
        or min(found.aborts, found.draft_tokens) < 0
    ):
        parser.error("--frames, --runs and --threads must be at least 1, the others at least 0")
    if found.emulate_acceptance is not None:
        try:
            acceptance_rate(found.emulate_acceptance, found.draft_tokens)
        except ValueError as error:
            parser.error(f"--emulate-acceptance: {error}")
    return found


def alone(work: Callable[..., R], *arguments: object) -> R:
    """``work`` in a process of its own, so that its memory is all that is counted. It ends with
    this one."""
    spawn = multiprocessing.get_context("spawn")
    results, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=send, args=(sender, work, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        result = results.recv()
    except EOFError:
        process.join()
        raise RuntimeError(f"{work.__name__} ended with {process.exitcode}") from None
    process.join()
    if isinstance(result, Exception):
        raise result
    return result


def send(sender: Connection, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    """What ``work`` returns, or its exception, to the process that waits for it."""
    try:
        sender.send(work(*arguments))
    except Exception as error:  # noqa: BLE001 - raised again where the result is wanted
        sender.send(error)


def checkpoint(arguments: argparse.Namespace) -> Path:
    """The checkpoint that was asked for; one with random weights is made if it is not there."""
    if arguments.checkpoint is not None:
        return Path(arguments.checkpoint)
    kind = f"{arguments.size}-base"
    folder = arguments.scratch / "qwen3-random" / (f"{kind}-tiny" if arguments.tiny else kind)
    if not folder.is_dir():
        print(f"making random weights in {folder}", file=sys.stderr)
        making = folder.with_name(f"{folder.name}.part")
        write_checkpoint(making, kind, tiny=arguments.tiny)
        making.rename(folder)
    return folder


def plan(arguments: argparse.Namespace, source: Path) -> list[BenchSetting]:
    """The rows: without draft tokens, with them, and with their acceptance emulated, as asked."""
    done = read_record(source)  # a converted folder is taken as it is
    plain = BenchSetting(
        source=source,
        home=arguments.scratch,
        quant=arguments.quant or (done.quant if done else DEFAULT_QUANT),
        predictor_quant=arguments.predictor_quant or (done.predictor_quant if done else None),
        backend=arguments.core,
        threads=arguments.threads,
        frames=arguments.frames,
        runs=arguments.runs,
        aborts=arguments.aborts,
        chunk_frames=arguments.chunk_frames,
    )
    settings = [plain]
    if arguments.draft_tokens:
        settings.append(replace(plain, draft_tokens=arguments.draft_tokens))
    if arguments.emulate_acceptance is not None:
        settings.append(replace(settings[-1], codes_a_pass=arguments.emulate_acceptance))
    return settings


def prepare(setting: BenchSetting) -> Loaded:
    """Convert and open the model once, so that everything is there that the first time leaves."""
    model = open_setting(setting)
    language = model.language
    model.close()
    placements = dict.fromkeys((str(language.talker), str(language.predictor)))
    return Loaded(
        weights=model.folder.name,
        quant=language.quants.talker,
        predictor_quant=language.quants.predictor or language.quants.talker,
        backend=" and ".join(placements),
        size=WeightSizes(*(_megabytes(model, name) for name in ("talker", "predictor"))),
    )


def _megabytes(model: Qwen3Model, part: str) -> float:
    file = model.folder / f"{part}.gguf"
    return file.stat().st_size / 1e6 if file.is_file() else 0.0


def limits_of(threads: int, size: WeightSizes) -> MachineLimits:
    """The machine's, measured in a process in which numpy uses one thread by itself."""
    return alone_in_one_thread(measure_limits, threads, sizes(size))


def alone_in_one_thread(work: Callable[..., R], *arguments: object) -> R:
    """As `alone`, in a process in which numpy computes with one thread: others are not disturbed,
    and a busy machine does not let two wait for each other."""
    before = {name: os.environ.get(name) for name in SINGLE_THREADED}
    os.environ.update(dict.fromkeys(SINGLE_THREADED, "1"))
    try:
        return alone(work, *arguments)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def measure(setting: BenchSetting) -> tuple[CoreRow, list[Arrivals]]:
    """One row, and when the chunks of its utterances came."""
    began_s = perf_counter()
    model = open_setting(setting)
    load_s, loaded_mb = perf_counter() - began_s, resident_memory_mb()
    bench = warm(model, setting.chunk_frames)
    neighbours = Neighbours()
    runs = [bench.utterance(setting.frames, seed) for seed in range(setting.runs)]
    summary = Summary.of(runs)
    resident_mb = resident_memory_mb()
    moment = random.Random(0)
    aborts_ms = [
        bench.abort_ms(moment.uniform(0, ABORTED_BY_S), seed) for seed in range(setting.aborts)
    ]
    after_ms = 1000 * bench.utterance(WARM_FRAMES, 0).arrivals.first_audio_s
    model.close()
    stopped_s = [each / 1000 for each in aborts_ms if each is not None]
    row = CoreRow(
        label=setting.label,
        draft_tokens=setting.draft_tokens,
        emulated_codes_a_pass=setting.codes_a_pass,
        summary=summary,
        schedule=schedule_name(bench.schedule),
        load_s=round(load_s, 2),
        resident_loaded_mb=round(loaded_mb, 1),
        resident_mb=round(resident_mb, 1),
        peak_memory_mb=round(peak_memory_mb(), 1),
        abort=Times.of(stopped_s) if stopped_s else None,
        first_chunk_after_aborts_ms=round(after_ms, 1),
        others_cores=neighbours.busy_cores(),
    )
    return row, [run.arrivals for run in runs]


def show(report: CoreReport) -> None:
    """Print the table."""
    print(report.title)
    if report.soak:
        show_soak(report.soak)
    else:
        print("p50 and p95 in ms")
    for row in report.rows:
        found = row.summary
        print(f"\n{row.label} (chunks: {row.schedule} frames)")
        for name, times in (
            ("talker step", found.talker_step),
            ("predictor frame", found.predictor_frame),
            ("codec frame", found.codec_frame),
            ("prefill", found.prefill),
            ("first chunk", found.first_chunk),
            ("uninterrupted start", found.uninterrupted_start),
            ("gap", found.gap),
            ("abort", row.abort),
        ):
            if times is not None:
                print(f"  {name:<20} {times.p50_ms:>9} {times.p95_ms:>9}")
        print(
            f"  RTF {found.rtf}, {found.rtf_after_prompt} after the prompt, forward passes a frame "
            f"{found.forward_passes_a_frame}, frames a decoder call {found.frames_a_call}\n"
            f"  load {row.load_s} s, memory loaded {row.resident_loaded_mb}, speaking "
            f"{row.resident_mb}, peak {row.peak_memory_mb} MB\n"
            f"  first chunk after aborts {row.first_chunk_after_aborts_ms} ms; others kept "
            f"{row.others_cores} cores busy"
        )
    print()


def draw(picture: Path, report: CoreReport, runs: list[list[Arrivals]]) -> None:
    """One picture a row, or one of a soak; the first has the given name."""
    name = f"Qwen3-TTS {report.weights}, {report.threads} threads"
    if report.soak:
        found = report.soak
        title = f"{name}\n{found.label}"
        lines = {
            "real-time factor": found.rtf,
            "cores in use": found.cpu_cores,
            "temperature, °C": found.temperature_c,
            "resident memory, MB": found.resident_mb,
        }
        told = {label: values for label, values in lines.items() if values}
        draw_soak(picture, found.minutes, told, found.moved, title)
    for number, (row, arrivals) in enumerate(zip(report.rows, runs, strict=True)):
        path = picture.with_stem(f"{picture.stem}-{number}") if number else picture
        draw_arrivals(path, arrivals, f"{name}\n{row.label}")
