"""`python -m s2s bench ...`: measurements anyone can repeat. Each ends with one JSON line."""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from s2s.bench.own_weights import add_voice, run_recorded, run_voice

if TYPE_CHECKING:
    from s2s.config.schema import Config
    from s2s.models.store import Store


def add_actions(bench: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe the measurements to the command line."""
    actions = bench.add_subparsers(dest="action", metavar="ACTION", required=True)
    talk = actions.add_parser(
        "conversation",
        help="a scripted person asks, pauses, says backchannels and interrupts, in simulated time",
        parents=[common],
    )
    talk.add_argument(
        "--models",
        choices=("scripted", "real"),
        default="scripted",
        help="models that only take time, or those of the profile with what they really take",
    )
    talk.add_argument("--turns", type=int, default=24, help="questions the person asks")
    talk.add_argument("--seed", type=int, default=1, help="the conversation's random numbers")
    talk.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="its first half minute (.png, .svg), or all of it as a page (.html)",
    )
    talk.add_argument("--wav", type=Path, metavar="FILE", help="the conversation in stereo")
    talk.add_argument("--log", type=Path, metavar="FILE", help="its events, one a line")
    random = actions.add_parser(
        "random", help="random conversations, and what must hold in each", parents=[common]
    )
    random.add_argument("--count", type=int, default=1000, help="how many conversations")
    random.add_argument("--seed", type=int, default=0, help="seed of the first")
    random.add_argument("--jobs", type=int, default=2, help="processes")
    parity = actions.add_parser(
        "parity",
        help="what each quant of a Qwen3-TTS model costs against float32",
        parents=[common],
    )
    parity.add_argument("source", help="official checkpoint: folder, name or hub id")
    parity.add_argument(
        "--quants",
        default="f32,bf16,q8_0,q6_k,q5_k_m,q4_k_m",
        help="QUANT or BACKEND:QUANT, ...; or all: every one of every core that is here",
    )
    parity.add_argument("--frames", type=int, default=24, help="frames compared")
    parity.add_argument("--trace", action="store_true", help="compare tensor by tensor instead")
    parity.add_argument(
        "--tolerance", type=float, default=1e-3, help="of a tensor's rms, for --trace"
    )
    parity.add_argument("--threads", type=int, default=1)
    add_voice(actions, common)


def run(options: argparse.Namespace, config: Config, store: Store) -> int:
    """Measure; returns the exit code: 1 when something that must hold did not."""
    if options.action == "parity":
        return _parity(options, store)
    if options.action == "voice":
        return run_voice(options, config, store)
    if options.action == "recorded":
        return run_recorded(options, store)
    if options.action == "random":
        return _random(options.count, options.seed, options.jobs)
    return _conversation(options, config, store)


def _conversation(options: argparse.Namespace, config: Config, store: Store) -> int:
    from s2s.bench.conditions import Conditions
    from s2s.bench.conversation import figures, models, picture, script

    real = options.models == "real"
    voice = models.spoken_by(store) if real else script.hum
    loaded = models.real_models(config, store) if real else None
    steps = script.script(options.turns, options.seed, voice)
    started_s = time.perf_counter()
    simulation = script.run(steps, loaded)
    found = figures.figures(steps, simulation, time.perf_counter() - started_s)
    for name, value in asdict(found).items():
        print(f"{name:>26}  {value}")
    if options.picture:
        picture.draw(options.picture, simulation)
    if options.wav:
        simulation.transport.save(options.wav)
    if options.log:
        options.log.write_text("\n".join(simulation.trace()) + "\n", encoding="utf-8")
    print(json.dumps({**asdict(found), "models": options.models, **asdict(Conditions.here())}))
    return 0


def _parity(options: argparse.Namespace, store: Store) -> int:
    """1 when float32 is among the quants and does not agree."""
    from s2s.bench.conditions import Conditions
    from s2s.tts.qwen3 import (
        BACKENDS,
        RANDOM_WEIGHTS,
        open_parity,
        quality_table,
        trace_table,
    )

    parity = open_parity(options.source, store.root, options.threads, trace=options.trace)
    quants: list[str] = options.quants.split(",")
    if quants == ["all"]:
        here = [backend for backend in BACKENDS if backend.missing() is None]
        quants = [f"{backend.name}:{quant}" for backend in here for quant in backend.quants]
    conditions = {"source": options.source, "threads": options.threads, **asdict(Conditions.here())}
    if options.trace:
        traces = [parity.trace(quant, options.tolerance) for quant in quants]
        print("\n\n".join(map(trace_table, traces)))
        parted = {trace.name: trace.first and trace.first.name for trace in traces}
        print(json.dumps({"parts_at": parted, "tolerance": options.tolerance, **conditions}))
        return 1 if parted.get("f32") else 0
    rows = parity.quality(quants, options.frames)
    print(quality_table(rows))
    print(RANDOM_WEIGHTS)
    print(json.dumps({"quants": [asdict(row) for row in rows], **conditions}))
    return 1 if any(row.name.endswith("f32") and row.predictor < 1 for row in rows) else 0


def _random(count: int, first: int, jobs: int) -> int:
    """Run conversations `first` to `first + count - 1`; print each that went wrong."""
    started_s = time.perf_counter()
    size = max(1, min(100, count // jobs))
    starts = range(first, first + count, size)
    chunks = [range(start, min(start + size, first + count)) for start in starts]
    wrong = 0
    from concurrent.futures import ProcessPoolExecutor  # slow to import

    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(_violations, chunks):
            for seed, violations in found:
                wrong += 1
                print(f"conversation {seed}: {'; '.join(violations)}")
    took_s = time.perf_counter() - started_s
    record = {"conversations": count, "wrong": wrong, "first_seed": first, "took_s": took_s}
    print(f"{count} conversations, {wrong} went wrong, {took_s:.0f} s")
    print(json.dumps(record))
    return 1 if wrong else 0


def _violations(seeds: Sequence[int]) -> list[tuple[int, list[str]]]:
    from s2s.testing.random_conversations import conversation, violations

    logging.getLogger("s2s").setLevel(logging.CRITICAL)  # scripted failures are part of it
    found = [(seed, violations(conversation(seed).run())) for seed in seeds]
    return [(seed, wrong) for seed, wrong in found if wrong]
