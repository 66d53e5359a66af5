"""Measure how often turns are cut off, and how long their ends are waited for.

    python scripts/benchmark_endpointing.py --turns DIR
    python scripts/benchmark_endpointing.py --turns DIR OTHER_DIR --no-text --picture curve.png

Hears turns of real speech with pauses cut in (made in DIR by make_turn_audio.py where they are not
yet), with the real voice detector, segmenter, end-of-turn model and embedded recogniser, on the
sample clock; --no-text then decides by sound alone. A turn is cut off when the grace of any of its
pauses ran out before speech was heard again. The added delay is from the true end of speech to the
moment the turn could be committed; the models' time counts where it is longer than the grace.

What was heard is kept in DIR/evidence.json, so that policies can be compared without the models;
remove it after changing anything but the policy. Prints a table and, last, one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from s2s.bench.turn_audio import Turn, fetch_prompts, make_turns, read_turns, write_turns
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.turns.endpoint import EAGERNESS, EndOfTurn, GraceConfig, grace_ms
from s2s.turns.segmenter import (
    ProvisionalEnd,
    Resumed,
    Segmenter,
    SegmenterEvent,
    Started,
)
from s2s.turns.vad import SileroVad

MS = PIPELINE_HZ // 1000


@dataclass(frozen=True, slots=True)
class ProvisionalPause:
    """A provisional end: what was known then, and when speech came back. Samples of the turn."""

    end: int
    """One past the last speech, as the segmenter found it."""
    noticed: int
    """When it was found."""
    back: int | None
    """When the returning speech was noticed; None at the end of the turn."""
    probability: float
    text: str


@dataclass(frozen=True, slots=True)
class HeardTurn:
    """What was heard of one turn."""

    name: str
    start_error_ms: float
    """Onset found after the true one."""
    true_end: int
    pauses: list[ProvisionalPause]


@dataclass(frozen=True, slots=True)
class Result:
    """One policy over all turns."""

    cut_turns: float
    """Share of turns cut off."""
    cut_pauses: float
    """Share of mid-turn pauses that ended the turn."""
    median_ms: float
    p90_ms: float


def hear(turn: Turn, voice: SileroVad) -> tuple[HeardTurn, list[Block]]:
    """Cut `turn` with the voice detector; returns its pauses without evidence, and the audio that
    is known at each."""
    vad = voice.open()
    segmenter = Segmenter()
    found: list[tuple[int, SegmenterEvent]] = []
    audio: list[Block] = []
    for block in Framer(BLOCK_SAMPLES).push(turn.audio):
        for event in segmenter.push(block, vad.probability(block)):
            found.append((segmenter.sample, event))
            if isinstance(event, ProvisionalEnd):
                audio.append(segmenter.audio())
    started = [event for _, event in found if isinstance(event, Started)]
    if len(started) != 1:
        raise RuntimeError(f"{turn.name}: heard {len(started)} turns in one")
    pauses = []
    for at, event in found:
        if isinstance(event, ProvisionalEnd):
            back = [e.sample for later, e in found if isinstance(e, Resumed) and later > at]
            noticed = back[0] + BLOCK_SAMPLES if back else None
            pauses.append(ProvisionalPause(event.end_sample, at, noticed, 0.5, ""))
    late_ms = (started[0].onset_sample - turn.speech_start) / MS
    return HeardTurn(turn.name, late_ms, turn.speech_end, pauses), audio


def gather(
    turns: Iterable[Turn], transcribe: Callable[[Block], str], threads: int
) -> tuple[list[HeardTurn], dict[str, float]]:
    """Hear every turn and ask the models at each of its pauses; also their median times, ms."""
    store = Store()
    vad = SileroVad(store.path("silero-vad"), threads=threads)
    end_of_turn = EndOfTurn(store.path("smart-turn-v3"), threads=threads)
    gathered: list[HeardTurn] = []
    model_ms: list[float] = []
    text_ms: list[float] = []
    for turn in turns:
        heard, audio = hear(turn, vad)
        pauses = []
        for pause, known in zip(heard.pauses, audio, strict=True):
            begun = time.perf_counter()
            probability = end_of_turn.probability(known)
            judged = time.perf_counter()
            text = transcribe(known)
            model_ms.append(1000 * (judged - begun))
            text_ms.append(1000 * (time.perf_counter() - judged))
            pauses.append(replace(pause, probability=probability, text=text))
        gathered.append(replace(heard, pauses=pauses))
    times = {"end_of_turn": statistics.median(model_ms), "transcript": statistics.median(text_ms)}
    return gathered, times


def evidence(folder: Path, threads: int) -> tuple[list[HeardTurn], dict[str, float]]:
    """What was heard of the turns in `folder`: read back, or gathered and kept."""
    kept = folder / "evidence.json"
    if not kept.is_file():
        heard, times = gather(read_turns(folder), _transcriber(threads), threads)
        kept.write_text(json.dumps({"times": times, "turns": [asdict(one) for one in heard]}))
    stored = json.loads(kept.read_text())
    turns = [
        HeardTurn(**{**turn, "pauses": [ProvisionalPause(**pause) for pause in turn["pauses"]]})
        for turn in stored["turns"]
    ]
    return turns, stored["times"]


def without_text(turns: list[HeardTurn]) -> list[HeardTurn]:
    return [
        replace(turn, pauses=[replace(pause, text="") for pause in turn.pauses]) for turn in turns
    ]


def _transcriber(threads: int) -> Callable[[Block], str]:
    from s2s.stt.moonshine import Moonshine, MoonshineConfig

    recogniser = Moonshine(MoonshineConfig(), Resources(Store(), threads))
    return lambda audio: recogniser.transcribe(audio, language="en").text


def judge(
    turns: list[HeardTurn], wait_ms: Callable[[ProvisionalPause], float], models_ms: float
) -> Result:
    """Let `wait_ms` decide at each pause; models take `models_ms` after the pause is noticed."""
    cut_turns, cut_pauses, delays = 0, 0, []
    for turn in turns:
        cuts = 0
        for pause in turn.pauses:
            decided = pause.noticed + models_ms * MS
            commit = max(pause.end + wait_ms(pause) * MS, decided)
            if pause.back is None:
                delays.append((commit - turn.true_end) / MS)
            elif commit < pause.back:
                cuts += 1
        cut_turns += cuts > 0
        cut_pauses += cuts
    mid_turn = sum(pause.back is not None for turn in turns for pause in turn.pauses)
    return Result(
        cut_turns / len(turns),
        cut_pauses / max(mid_turn, 1),
        float(np.median(delays)),
        float(np.percentile(delays, 90)),
    )


def policy(config: GraceConfig) -> Callable[[ProvisionalPause], float]:
    return lambda pause: grace_ms(pause.probability, pause.text, config, "en")


def curve(turns: list[HeardTurn], config: GraceConfig, models_ms: float) -> list[Result]:
    """The policy from quick to patient: its bias moved in steps."""
    biases = np.arange(-4.0, 4.01, 0.25)
    return [
        judge(turns, policy(replace(config, bias=config.bias + float(bias))), models_ms)
        for bias in biases
    ]


def silence_curve(turns: list[HeardTurn]) -> list[Result]:
    """Silence alone, 200 to 1600 ms of it."""
    return [judge(turns, lambda _, wait=wait: wait, 0.0) for wait in range(200, 1601, 100)]


def draw(path: Path, curves: dict[str, list[Result]], marks: dict[str, Result]) -> None:
    """Write the curves as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.5, 5))
    for name, results in curves.items():
        axes.plot(
            [result.median_ms for result in results],
            [100 * result.cut_turns for result in results],
            marker=".",
            label=name,
        )
    for name, result in marks.items():
        axes.plot(result.median_ms, 100 * result.cut_turns, "o", markersize=9)
        axes.annotate(
            f"  {name}", (result.median_ms, 100 * result.cut_turns), verticalalignment="bottom"
        )
    axes.axhline(5, color="grey", linewidth=0.7, linestyle="--")
    axes.axvline(400, color="grey", linewidth=0.7, linestyle="--")
    axes.set(
        xlabel="median added delay, end of speech to commit (ms)",
        ylabel="turns cut off (%)",
        title="End of turn on real speech with pauses of 0.2 to 1.5 s cut in",
        ylim=(0, 100),
    )
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure end-of-turn decisions on real speech.")
    parser.add_argument(
        "--turns", type=Path, required=True, nargs="+", help="folders of make_turn_audio.py"
    )
    parser.add_argument("--prompts", type=Path, help="folder with the unpacked Debian packages")
    parser.add_argument("--no-text", action="store_true", help="decide by sound alone")
    parser.add_argument("--threads", type=int, default=1, help="threads a model may use")
    parser.add_argument(
        "--models-ms",
        type=float,
        default=150.0,
        help="time from noticing a pause to the evidence: end-of-turn model, then transcript",
    )
    parser.add_argument("--picture", type=Path, help="write the curves here (PNG)")
    arguments = parser.parse_args()

    turns: list[HeardTurn] = []
    times: dict[str, float] = {}
    for folder in arguments.turns:
        if not (folder / "turns.json").is_file():
            folder.mkdir(parents=True, exist_ok=True)
            prompts = arguments.prompts or fetch_prompts(folder / "prompts")
            write_turns(make_turns(prompts, folder / "words.json"), folder)
        heard, taken = evidence(folder, arguments.threads)
        turns += without_text(heard) if arguments.no_text else heard
        times |= taken
    models_ms = arguments.models_ms
    settings = {name: judge(turns, policy(c), models_ms) for name, c in EAGERNESS.items()}
    silence = silence_curve(turns)
    print(f"{'setting':>12} {'turns cut':>10} {'pauses cut':>10} {'median':>8} {'p90':>8}")
    rows = {**settings, "700 ms silence": silence[5]}
    for name, result in rows.items():
        print(
            f"{name:>12} {100 * result.cut_turns:9.1f}% {100 * result.cut_pauses:9.1f}% "
            f"{result.median_ms:6.0f}ms {result.p90_ms:6.0f}ms"
        )
    if arguments.picture:
        fused = curve(turns, EAGERNESS["medium"], models_ms)
        name = "sound" if arguments.no_text else "sound and text"
        draw(arguments.picture, {name: fused, "silence alone": silence}, settings)
    pauses = [pause for turn in turns for pause in turn.pauses if pause.back is not None]
    print(
        json.dumps(
            {
                "turns": len(turns),
                "mid_turn_pauses": len(pauses),
                "text": not arguments.no_text,
                "models_ms_assumed": models_ms,
                "models_ms_median": {name: round(value, 1) for name, value in times.items()},
                "onset_late_ms_median": statistics.median(turn.start_error_ms for turn in turns),
                "settings": {name: asdict(result) for name, result in settings.items()},
                "threads": arguments.threads,
                "cpu": platform.processor() or platform.machine(),
                "python": platform.python_version(),
            }
        )
    )
