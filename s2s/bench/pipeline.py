"""Measure conversations in real time: from the end of speech to the first sound of the answer.

    python scripts/benchmark_pipeline.py                       the default profile, 22 turns
    python scripts/benchmark_pipeline.py --set session.speculative_tts=false
    python scripts/benchmark_pipeline.py --picture latency.png --turns 40

The person is five recordings of human speech, with hand-labelled ends, and questions spoken by the
embedded voice. Latency is read from the recording of the conversation, not from the program's own
marks; those only tell where it went (docs/decisions/not-reached-420-ms.md). Needs an otherwise idle
machine to mean anything. The last line is JSON.
"""

# pyright: reportUnknownMemberType=false
# Matplotlib's own types leave arguments open.
from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import psutil

from s2s.app.loading import close_models, load_models
from s2s.bench import answer
from s2s.bench.conditions import Conditions, peak_memory_mb
from s2s.bench.entry import run_measurement
from s2s.bench.recording import Answer, SpokenSpan, answers, speech_end
from s2s.config import loader as configuration
from s2s.config import registry
from s2s.core.audio import PIPELINE_HZ, read_wav, resample
from s2s.core.clock import SystemClock
from s2s.core.metrics import Metrics, Timeline, percentile, summary
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.session.session import Session
from s2s.transport.playback import Playback
from s2s.transport.wav import Line, Script, WavTransport

DATA = Path(__file__).parents[2] / "tests" / "data"
RECORDINGS_S = {
    "librivox_0870": 6.762,
    "librivox_0880": 2.774,
    "librivox_0890": 5.057,
    "librivox_0920": 5.813,
    "librivox_0930": 3.037,
}
"""End of speech, labelled by hand (pocketsphinx 5.1.1, test/data/librivox/*.lab)."""

QUESTIONS = (
    "What is the capital of France?",
    "How many days are in a week?",
    "Can you tell me a short story?",
    "What should I cook for dinner tonight?",
    "Who wrote Romeo and Juliet?",
    "How do I boil an egg?",
    "What is the largest planet?",
    "Please tell me something about whales.",
    "What color is the sky at night?",
    "How far away is the moon?",
    "What is a good name for a cat?",
    "Why do leaves fall in autumn?",
    "What is your favorite season of the year?",
    "How can I sleep better?",
    "What do bees do in winter?",
    "Where does chocolate come from?",
    "Can you give me some advice?",
)
OUTPUT_HZ = 24_000
IDLE_S = 5.0


def main() -> None:
    """Parse, converse, print."""
    arguments = parse(sys.argv[1:])
    flags = [("--answer-tokens", "llm.max_tokens", str(arguments.answer_tokens))]
    flags += [
        (f"--set {key}", key, value)
        for key, value in (pair.split("=", 1) for pair in arguments.set)
    ]
    config = configuration.load(profile=arguments.profile, flags=flags)
    store = Store()
    utterances, ends = person(store, arguments.turns)
    models = load_models(config, store, print)
    clock, metrics, process = SystemClock(), Metrics(), psutil.Process()
    script = Script(utterances)
    transport = WavTransport(script, Playback(clock, OUTPUT_HZ), clock)
    diary = answer.Diary()
    watch = answer.Lookout(diary, transport.playback)
    seen = answer.watched(models, diary) if arguments.answer_picture else models
    session = Session(
        seen, transport, config.session, events=lambda _: None, clock=clock, metrics=metrics
    )
    before, started_s = process.cpu_times(), clock.now()
    if arguments.answer_picture:
        watch.start()
    try:
        session.run()
        after, took_s = process.cpu_times(), clock.now() - started_s
        quiet_s = arguments.idle_seconds
        idle_share = idle(config, models, process, quiet_s) if quiet_s else None
    finally:
        watch.stop()
        close_models(models)
    cpu_s = after.user + after.system - before.user - before.system
    said = [
        SpokenSpan(start, start + ends[utterance.name], utterance.name)
        for start, utterance in script.said
    ]
    found = answers(said, transport.assistant(), OUTPUT_HZ)
    report = {
        **figures(found),
        **first_sound(metrics.finished()),
        "underruns": transport.playback.underruns,
        "peak_memory_mb": round(peak_memory_mb(), 1),
        "cpu_share_of_a_core": round(cpu_s / took_s, 3),
        "idle_cpu_share_of_a_core": None if idle_share is None else round(idle_share, 4),
        "profile": arguments.profile or configuration.DEFAULT_PROFILE,
        "settings": arguments.set,
        "backends": [config.stt.backend, config.llm.backend, config.tts.backend],
        **asdict(Conditions.here()),
    }
    parts = summary(metrics.finished())
    show(found, report, parts)
    if arguments.answer_picture:
        title = f"{config.llm.backend} and {config.tts.backend}: one answer"
        answer.draw(Path(arguments.answer_picture), diary.heard_of(), title)
    if arguments.picture:
        draw(Path(arguments.picture), found)
    if arguments.wav:
        transport.save(arguments.wav)
    print(json.dumps({**report, "parts_ms": parts}))


def idle(
    config: configuration.Config, models: Models, process: psutil.Process, quiet_s: float
) -> float:
    """CPU time of a session in which nothing is said for so long, as a share of one core."""
    clock = SystemClock()
    script = Script([], end_quiet_s=quiet_s)
    transport = WavTransport(script, Playback(clock, OUTPUT_HZ), clock)
    session = Session(models, transport, config.session, events=lambda _: None, clock=clock)
    before, started_s = process.cpu_times(), clock.now()
    session.run()
    after = process.cpu_times()
    cpu_s = after.user + after.system - before.user - before.system
    return cpu_s / (clock.now() - started_s)


def person(store: Store, turns: int) -> tuple[list[Line], dict[str, int]]:
    """What is said, and where in each utterance the speech ends (samples at 16 kHz)."""
    utterances: list[Line] = []
    ends: dict[str, int] = {}
    for name, end_s in RECORDINGS_S.items():
        utterances.append(Line(read_wav(DATA / f"{name}.wav", PIPELINE_HZ)[0], 0.6, name))
        ends[name] = int(end_s * PIPELINE_HZ)
    voice = registry.create_synthesizer("hibari", None, Resources(store, 1))
    for text in QUESTIONS[: max(0, turns - len(utterances))]:
        chunks = [chunk.samples for chunk in voice.synthesize(text)]
        audio = resample(np.concatenate(chunks), voice.capabilities.sample_rate_hz, PIPELINE_HZ)
        utterances.append(Line(audio, 0.6, text))
        ends[text] = speech_end(audio)
    voice.close()
    return (utterances * (turns // len(utterances) + 1))[:turns], ends


def figures(found: Sequence[Answer]) -> dict[str, object]:
    """Percentiles of the latency, and the turns that went wrong."""
    latencies = [
        each.latency_ms for each in found if each.latency_ms is not None and not each.cut_off
    ]
    return {
        "turns": len(found),
        "answered": len(latencies),
        "cut_off": sum(each.cut_off for each in found),
        "latency_p50_ms": round(percentile(latencies, 0.5), 1),
        "latency_p90_ms": round(percentile(latencies, 0.9), 1),
        "latency_p95_ms": round(percentile(latencies, 0.95), 1),
        "latency_max_ms": round(max(latencies), 1),
    }


def first_sound(timelines: Sequence[Timeline]) -> dict[str, float]:
    """From the first words that the voice was given to the first chunk of sound."""
    took_ms = [
        1000 * (each.marks["first_audio"] - each.marks["first_sentence"])
        for each in timelines
        if "first_audio" in each.marks and "first_sentence" in each.marks
    ]
    return {
        f"first_sound_p{round(100 * share)}_ms": round(percentile(took_ms, share), 1)
        for share in (0.5, 0.9)
    }


def show(
    found: Sequence[Answer],
    report: Mapping[str, object],
    parts: Mapping[str, Mapping[str, float]],
) -> None:
    """Print a line a turn and the sums."""
    for each in found:
        latency = "no answer" if each.latency_ms is None else f"{each.latency_ms:7.0f} ms"
        print(f"{latency:>12}  {'cut off  ' if each.cut_off else ''}{each.spoken.name}")
    for key, value in report.items():
        print(f"{key:>26}  {value}")
    for point, share in parts.items():
        print(f"{point:>26}  p50 {share['p50']:7.1f}  p90 {share['p90']:7.1f} ms after speech")


def draw(path: Path, found: Sequence[Answer]) -> None:
    """Draw the distribution of the latency."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    latencies = sorted(each.latency_ms for each in found if each.latency_ms is not None)
    shares = np.arange(1, len(latencies) + 1) / len(latencies)
    figure, axes = pyplot.subplots(figsize=(7, 4))
    axes.step(latencies, shares, where="post")
    for share in (0.5, 0.9):
        axes.axvline(percentile(latencies, share), linestyle=":", color="gray")
    axes.set(
        xlabel="ms from the end of speech to the first sound of the answer",
        ylabel="share of turns",
        ylim=(0, 1.02),
        xlim=(0, None),
    )
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--profile", default=None, help="settings that come with the program")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--turns", type=int, default=22, help="things the person says")
    parser.add_argument(
        "--answer-tokens", type=int, default=24, help="answers are cut there, to save time"
    )
    parser.add_argument(
        "--idle-seconds", type=float, default=IDLE_S, help="nothing is said so long; 0: leave out"
    )
    parser.add_argument("--picture", default=None, metavar="FILE", help="PNG of the distribution")
    parser.add_argument(
        "--answer-picture", default=None, metavar="FILE", help="PNG of one answer, as it was made"
    )
    parser.add_argument("--wav", default=None, metavar="FILE", help="recording, in stereo")
    found = parser.parse_args(arguments)
    if found.turns < 1 or found.idle_seconds < 0:
        parser.error("--turns must be at least 1, --idle-seconds 0 or more")
    return found


if __name__ == "__main__":
    sys.exit(run_measurement(main))
