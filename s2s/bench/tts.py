"""Measure a text-to-speech backend: how soon it sounds, whether it keeps up, what it costs.

    python scripts/benchmark_tts.py                              the embedded voice
    python scripts/benchmark_tts.py --backend piper --runs 10 --threads 2 --picture piper.png
    python scripts/benchmark_tts.py --backend qwen3 --set model=PATH --text "Any text."
    python scripts/benchmark_tts.py --backend qwen3 --random-weights --size 0.6b --quant q4_k_m

The last form takes Qwen3-TTS apart (see `s2s.bench.qwen3.core`, which reads its
options).

Prints a table and, last, one line of JSON with the conditions. Times are of the backend alone; the
texts go through the text front end first, as in a conversation. RTF is compute over audio time:
below 1 is faster than it is spoken. "Start" is the earliest moment at which playback can begin and
never run dry. Needs an otherwise idle machine to mean anything. The picture needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from s2s.bench.conditions import commit, peak_memory_mb
from s2s.bench.pictures import draw_arrivals
from s2s.bench.synthesis import Arrivals, record
from s2s.config import registry, typed
from s2s.core.clock import SystemClock
from s2s.core.metrics import percentile
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.system.cpu import cores, cpu_name
from s2s.tts.base import Synthesizer
from s2s.tts.text import speakable

TEXTS = (
    "Sure, I can help with that.",
    "The museum opens at 9:30 on weekdays, and a ticket costs $12.50 for adults.",
    "Here is what I found. The train leaves from platform 4 at 14:05, stops twice on the way, and "
    "arrives in the city at about 4 p.m. If you miss it, the next one goes an hour later.",
)


@dataclass(frozen=True, slots=True)
class VoiceRow:
    """Measures of one text over all runs."""

    characters: int
    audio_s: float
    ttfa_p50_ms: float
    ttfa_p95_ms: float
    start_p50_ms: float
    start_p95_ms: float
    gap_p95_ms: float
    rtf: float
    chunks: int


@dataclass(frozen=True, slots=True)
class VoiceReport:
    """The JSON line."""

    tts: str
    options: dict[str, str]
    rows: list[VoiceRow]
    load_s: float
    warm_s: float
    peak_memory_mb: float
    runs: int
    threads: int
    cpu: str
    cores: int
    python: str
    commit: str


def main() -> None:
    """Parse, measure, print."""
    if takes_apart(sys.argv[1:]):
        from s2s.bench.qwen3 import core

        core.main()
        return
    arguments = parse(sys.argv[1:])
    backend = registry.find("tts", arguments.tts)
    options = dict(pair.split("=", 1) for pair in arguments.set)
    given: typed.Tree = {
        key: typed.Given(value, "--set", is_text=True) for key, value in options.items()
    }
    config = typed.build(registry.config_class(backend), given, f"tts.{backend.name}")
    clock = SystemClock()

    started_s = clock.now()
    resources = Resources(Store(), threads=arguments.threads)
    voice = registry.create_synthesizer(backend.name, config, resources)
    try:
        load_s = clock.now() - started_s
        voice.warm()
        warm_s = clock.now() - started_s - load_s
        texts = [speakable(text, arguments.language).text for text in arguments.text or TEXTS]
        runs = [[speak(voice, text, arguments) for text in texts] for _ in range(arguments.runs)]
    finally:
        voice.close()

    rows = [row(text, [run[n] for run in runs]) for n, text in enumerate(texts)]
    report = VoiceReport(
        tts=backend.name,
        options=options,
        rows=rows,
        load_s=round(load_s, 3),
        warm_s=round(warm_s, 3),
        peak_memory_mb=round(peak_memory_mb(), 1),
        runs=arguments.runs,
        threads=arguments.threads,
        cpu=cpu_name(),
        cores=cores(),
        python=platform.python_version(),
        commit=commit(),
    )
    show(report)
    if arguments.picture:
        draw_arrivals(Path(arguments.picture), [run[-1] for run in runs], backend.name)
    print(json.dumps(asdict(report)))


def takes_apart(arguments: list[str]) -> bool:
    """Whether these are arguments for the benchmark of the Qwen3-TTS core."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--backend", "--tts")
    parser.add_argument("--checkpoint")
    parser.add_argument("--random-weights", action="store_true")
    parser.add_argument("--tiny", action="store_true")
    found, _ = parser.parse_known_args(arguments)
    wanted = found.random_weights or found.tiny or found.checkpoint is not None
    return found.backend == "qwen3" and wanted


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    names = [backend.name for backend in registry.backends("tts")]
    parser.add_argument(
        "--backend", "--tts", dest="tts", default=names[0], choices=names, help="backend"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="option of the backend"
    )
    parser.add_argument("--runs", type=int, default=10, help="times each text is spoken")
    parser.add_argument("--threads", type=int, default=1, help="threads the backend may use")
    parser.add_argument("--text", action="append", help="text instead of the built-in three")
    parser.add_argument("--voice", default=None)
    parser.add_argument("--language", default="en", help="ISO 639-1 code of the texts")
    parser.add_argument("--picture", default=None, metavar="FILE", help="PNG of the last text")
    found = parser.parse_args(arguments)
    if found.runs < 1 or found.threads < 1:
        parser.error("--runs and --threads must be at least 1")
    for pair in found.set:
        if "=" not in pair:
            parser.error(f"--set takes KEY=VALUE, got {pair!r}")
    return found


def speak(voice: Synthesizer, text: str, arguments: argparse.Namespace) -> Arrivals:
    """Speak `text` once."""
    chunks = voice.synthesize(text, voice=arguments.voice, language=arguments.language)
    return record(chunks, voice.capabilities.sample_rate_hz, SystemClock())


def row(text: str, runs: list[Arrivals]) -> VoiceRow:
    """Sum up the runs of one text."""
    first_ms = [1000 * run.first_audio_s for run in runs]
    start_ms = [1000 * run.uninterrupted_start_s for run in runs]
    gaps_ms = [1000 * gap for run in runs for gap in run.gaps_s] or [0.0]
    return VoiceRow(
        characters=len(text),
        audio_s=round(statistics.median(run.audio_s for run in runs), 2),
        ttfa_p50_ms=round(percentile(first_ms, 0.5), 1),
        ttfa_p95_ms=round(percentile(first_ms, 0.95), 1),
        start_p50_ms=round(percentile(start_ms, 0.5), 1),
        start_p95_ms=round(percentile(start_ms, 0.95), 1),
        gap_p95_ms=round(percentile(gaps_ms, 0.95), 1),
        rtf=round(statistics.median(run.real_time_factor for run in runs), 4),
        chunks=len(runs[-1].at_s),
    )


def show(report: VoiceReport) -> None:
    """Print the table."""
    print(
        f"{report.tts}: load {report.load_s} s, warm-up {report.warm_s} s, peak memory "
        f"{report.peak_memory_mb} MB, {report.threads} thread(s), {report.runs} runs"
    )
    print(
        f"{'chars':>6} {'audio s':>8} {'TTFA p50':>9} {'p95 ms':>8} {'start p50':>10} "
        f"{'p95 ms':>8} {'gap p95':>8} {'RTF':>7} {'chunks':>7}"
    )
    for each in report.rows:
        print(
            f"{each.characters:>6} {each.audio_s:>8} {each.ttfa_p50_ms:>9} {each.ttfa_p95_ms:>8} "
            f"{each.start_p50_ms:>10} {each.start_p95_ms:>8} {each.gap_p95_ms:>8} {each.rtf:>7} "
            f"{each.chunks:>7}"
        )
