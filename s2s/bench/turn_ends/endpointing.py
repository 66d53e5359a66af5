"""Measure how often turns are cut off, and how long their ends are waited for.

    python scripts/benchmark_endpointing.py --turns DIR OTHER_DIR
    python scripts/benchmark_endpointing.py --turns DIR --picture docs/pictures/end-of-turn.svg

Hears turns of real speech (made by make_turn_audio.py) with the real voice detector, segmenter,
end-of-turn model, embedded recogniser and language model, on the sample clock. A pause is cut off
when the turn was over before speech was heard again. The added delay is from the true end of speech
to the moment the turn could be committed; the models' time counts where it is longer than the
grace. Pauses that were cut in and the speaker's own are counted apart.

What was heard is kept in DIR/witnesses.json (`s2s.bench.turn_ends.evidence`). Prints a table and,
last, one line of JSON.
"""

# pyright: reportUnknownMemberType=false
# Matplotlib's own types leave arguments open.
from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from s2s.bench.entry import existing_folder
from s2s.bench.turn_ends.evidence import WINDOW_MS, HeardPause, gather, read
from s2s.bench.turn_ends.fit import BEFORE
from s2s.core.audio import PIPELINE_HZ
from s2s.turns.grace import EAGERNESS, GraceConfig, Judgement, decided_ms
from s2s.turns.unfinished import log_odds

MS = PIPELINE_HZ // 1000
WITNESSES = ("sound", "words", "model")
Policy = Callable[[HeardPause], float]
"""Silence in ms after which the turn is over; infinite when speech was back before that."""

PUBLISHED = {
    "LiveKit v1 (cloud)": (543, 5.0),
    "Baton (cloud)": (577, 5.0),
    "turn-1-mini": (849, 5.0),
    "Smart Turn v3.2": (1051, 5.0),
    "Deepgram Flux": (1151, 5.0),
    "silence alone": (1600, 5.0),
}
"""Delay in ms at this percentage of false cut-offs on eot-bench, English, as its authors publish
them: other recordings than ours, real dialogue, so the order says more than the distance."""


@dataclass(frozen=True, slots=True)
class Result:
    """One policy over all pauses."""

    cut_pauses: float
    """Share of mid-turn pauses that ended the turn."""
    cut_natural: float
    """The same of those that the speaker made."""
    cut_turns: float
    """Share of turns cut off at least once."""
    median_ms: float
    p90_ms: float
    mean_ms: float
    over_1s: float
    """Share of ends that waited more than a second."""


def delays_ms(
    pauses: Sequence[HeardPause], policy: Policy, models_ms: float
) -> tuple[np.ndarray, np.ndarray]:
    """Added delay of each end and whether each other pause was cut off, both float64 [pauses]; NaN
    where the other one is meant."""
    delays, cuts = np.full(len(pauses), np.nan), np.full(len(pauses), np.nan)
    for at, pause in enumerate(pauses):
        over = max(pause.end + policy(pause) * MS, pause.noticed + models_ms * MS)
        if pause.back is None:
            delays[at] = (over - pause.true_end) / MS
        else:
            cuts[at] = over < pause.back
    return delays, cuts


def judge(pauses: Sequence[HeardPause], policy: Policy, models_ms: float) -> Result:
    """Let `policy` decide; the evidence is there `models_ms` after a pause was noticed."""
    delays, cuts = delays_ms(pauses, policy, models_ms)
    ends, middle = delays[~np.isnan(delays)], cuts[~np.isnan(cuts)]
    natural = np.array([pause.kind == "natural" for pause in pauses])
    own = cuts[natural]
    cut = {pause.turn for pause, is_cut in zip(pauses, cuts, strict=True) if is_cut == 1.0}
    return Result(
        float(middle.mean()) if len(middle) else 0.0,
        float(own.mean()) if len(own) else 0.0,
        len(cut) / len({pause.turn for pause in pauses}),
        float(np.median(ends)),
        float(np.percentile(ends, 90)),
        float(ends.mean()),
        float((ends > 1000).mean()),
    )


def policy(config: GraceConfig, witnesses: Sequence[str] = WITNESSES) -> Policy:
    """What the turns stage decides with `config`, by some of the witnesses."""

    def over_ms(pause: HeardPause) -> float:
        words = log_odds(pause.text, "en") if "words" in witnesses and pause.text else None
        model = pause.model if "model" in witnesses else None
        if "sound" in witnesses:
            judgements = [Judgement(2 * WINDOW_MS, pause.sound[WINDOW_MS])]
            for ms in config.ask_again_ms:
                odds = pause.sound_after(ms)
                judgements += [] if odds is None else [Judgement(ms, odds)]
        else:
            judgements = [Judgement(2 * WINDOW_MS, None)]
        wait = decided_ms(judgements, words, model, config)
        return float("inf") if wait is None else wait

    return over_ms


def rule_before(pause: HeardPause) -> float:
    """What the turns stage decided before it had the language model's opinion."""
    at, waits = zip(*BEFORE, strict=True)
    odds = pause.sound[WINDOW_MS] + log_odds(pause.text, "en")
    return float(np.exp(np.interp(odds, at, np.log(waits))))


def curve(
    pauses: Sequence[HeardPause], config: GraceConfig, witnesses: Sequence[str], models_ms: float
) -> list[Result]:
    """The policy from quick to patient: its bias moved in steps."""
    return [
        judge(pauses, policy(replace(config, bias=config.bias + float(b)), witnesses), models_ms)
        for b in np.arange(-4.0, 4.01, 0.25)
    ]


def silence_curve(pauses: Sequence[HeardPause]) -> list[Result]:
    """Silence alone, 200 to 1600 ms of it."""
    return [judge(pauses, lambda _, w=wait: float(w), 0.0) for wait in range(200, 1601, 100)]


def draw(path: Path, curves: dict[str, list[Result]], marks: dict[str, Result]) -> None:
    """Write the curves as a picture: pauses cut off against mean delay."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5.5))
    for name, results in curves.items():
        axes.plot(
            [result.mean_ms for result in results],
            [100 * result.cut_pauses for result in results],
            marker=".",
            label=name,
        )
    for name, result in marks.items():
        axes.plot(result.mean_ms, 100 * result.cut_pauses, "o", markersize=9, label=name)
    for name, (delay_ms, percent) in PUBLISHED.items():
        axes.plot(delay_ms, percent, "x", color="grey")
        axes.annotate(
            name, (delay_ms, percent), (0, 7), textcoords="offset points", rotation=90, fontsize=7,
            ha="center", va="bottom", color="grey",
        )  # fmt: skip
    axes.plot([], [], "x", color="grey", label="published on eot-bench (other recordings)")
    axes.set(
        xlabel="mean added delay, end of speech to commit (ms)",
        ylabel="pauses taken for the end (%)",
        title="End of turn on real speech",
        xlim=(0, 2000),
        ylim=(0, 40),
    )
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure end-of-turn decisions on real speech.")
    parser.add_argument(
        "--turns",
        type=existing_folder,
        required=True,
        nargs="+",
        help="folders of make_turn_audio.py",
    )
    parser.add_argument("--threads", type=int, default=1, help="threads a model may use")
    parser.add_argument(
        "--models-ms",
        type=float,
        default=150.0,
        help="time from noticing a pause to the evidence: transcript, then language model",
    )
    parser.add_argument(
        "--heard", action="store_true", help="only what was heard already: no model is loaded"
    )
    parser.add_argument("--picture", type=Path, help="write the curves here")
    arguments = parser.parse_args()

    pauses: list[HeardPause] = []
    for folder in arguments.turns:
        if not arguments.heard:
            gather(folder, arguments.threads)
        pauses += read(folder)
    models_ms = arguments.models_ms
    medium = EAGERNESS["medium"]
    rows = {name: judge(pauses, policy(config), models_ms) for name, config in EAGERNESS.items()}
    rows["sound and words"] = judge(pauses, policy(medium, ("sound", "words")), models_ms)
    rows["sound alone"] = judge(pauses, policy(medium, ("sound",)), models_ms)
    rows["rule before"] = judge(pauses, rule_before, models_ms)
    rows["700 ms silence"] = judge(pauses, lambda _: 700.0, 0.0)
    print_table(rows)
    if arguments.picture:
        curves = {
            " and ".join(some): curve(pauses, medium, some, models_ms)
            for some in (WITNESSES, WITNESSES[:2], WITNESSES[:1])
        }
        curves["silence alone"] = silence_curve(pauses)
        draw(arguments.picture, curves, {name: rows[name] for name in (*EAGERNESS, "rule before")})
    middle = [pause for pause in pauses if pause.back is not None]
    print(
        json.dumps(
            {
                "turns": len({pause.turn for pause in pauses}),
                "mid_turn_pauses": len(middle),
                "natural_pauses": sum(pause.kind == "natural" for pause in middle),
                "models_ms_assumed": models_ms,
                "settings": {name: asdict(result) for name, result in rows.items()},
                "threads": arguments.threads,
                "cpu": platform.processor() or platform.machine(),
                "python": platform.python_version(),
            }
        )
    )


def print_table(rows: dict[str, Result]) -> None:
    """One policy a line."""
    head = ("pauses cut", "natural", "turns cut", "median", "p90", "mean", "over 1 s")
    print(f"{'':>16} " + " ".join(f"{name:>10}" for name in head))
    for name, one in rows.items():
        shares = [f"{100 * x:9.1f}%" for x in (one.cut_pauses, one.cut_natural, one.cut_turns)]
        waits = [f"{x:7.0f} ms" for x in (one.median_ms, one.p90_ms, one.mean_ms)]
        print(f"{name:>16} " + " ".join([*shares, *waits, f"{100 * one.over_1s:9.1f}%"]))
