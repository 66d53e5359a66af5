"""Fit how much each witness of the end of a turn proves, and the curve of the wait.

    python -m s2s.bench.turn_ends.fit DIR OTHER_DIR

From the pauses of `evidence` beside it. Everything that is reported was found on recordings that
its fit has not seen (folds by recording), fitted to cut off as many pauses as `--target`, by
default what the rule before cuts; intervals are of 95 %, paired, recordings drawn again. What it
prints last, fitted on all, goes to `s2s/turns/fitted.py` and `s2s/turns/grace.py`; why so:
docs/decisions/end-of-turn-evidence.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from s2s.bench.entry import existing_folder, run_measurement
from s2s.bench.provisional import costs
from s2s.bench.turn_ends.evidence import WINDOW_MS, HeardPause, read
from s2s.core.audio import PIPELINE_HZ
from s2s.turns.unfinished import log_odds

MS = PIPELINE_HZ // 1000
FOLDS = 10
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PauseTable:
    """The pauses as arrays; one row each."""

    end: npt.NDArray[np.bool_]
    """It was the end of the turn."""
    natural: npt.NDArray[np.bool_]
    recording: npt.NDArray[np.int64]
    sound: Array
    """[rows, asks]: log-odds at the first window and at each of `asks_ms`; NaN where speech was
    back."""
    words: Array
    model: Array
    noticed_ms: Array
    """After the end of speech as it was found, as are the next two."""
    back_ms: Array
    true_ms: Array

    def rows(self, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> PauseTable:
        return PauseTable(*(getattr(self, name)[chosen] for name in PauseTable.__slots__))


def table(pauses: Sequence[HeardPause], asks_ms: Sequence[int]) -> PauseTable:
    """The pauses with words; `asks_ms` are those of the places where the sound was judged that
    count."""
    names = {name: at for at, name in enumerate(sorted({_recording(p.turn) for p in pauses}))}
    kept = [pause for pause in pauses if pause.model is not None]
    return PauseTable(
        np.array([p.back is None for p in kept]),
        np.array([p.kind == "natural" for p in kept]),
        np.array([names[_recording(p.turn)] for p in kept]),
        np.array([[p.sound_after(ms) for ms in (WINDOW_MS, *asks_ms)] for p in kept], float),
        np.array([log_odds(p.text, "en") for p in kept]),
        np.array([p.model for p in kept], float),
        np.array([(p.noticed - p.end) / MS for p in kept]),
        np.array([np.inf if p.back is None else (p.back - p.end) / MS for p in kept]),
        np.array([(p.true_end - p.end) / MS for p in kept]),
    )


def _recording(turn: str) -> str:
    """The recording a turn was made of: its name without the variant."""
    return re.sub(r"_\d$", "", turn)


def logistic(features: Array, truth: Array, prior: float = 1e-3) -> Array:
    """Weights of a logistic regression, the constant first: [1 + features]. Newton's method."""
    x = np.column_stack([np.ones(len(features)), features])
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1.0 / (1.0 + np.exp(-(x @ weights)))
        gradient = x.T @ (truth - p) - prior * weights
        curvature = (x * (p * (1 - p))[:, None]).T @ x + prior * np.eye(x.shape[1])
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def area(score: Array, truth: npt.NDArray[np.bool_]) -> float:
    """Share of pairs of an end and another pause that `score` puts in order (AUC)."""
    above = np.sort(score[~truth])
    found = np.searchsorted(above, score[truth], "left") + np.searchsorted(
        above, score[truth], "right"
    )
    return float(found.mean() / 2 / len(above))


# --- the wait ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait that falls smoothly with the log-odds: `longest_ms` to `shortest_ms`, geometric, half
    way at `middle`, within about four times `width`."""

    middle: float
    width: float
    shortest_ms: float
    longest_ms: float

    def ms(self, odds: Array) -> Array:
        share = 1.0 / (1.0 + np.exp((odds - self.middle) / self.width))
        return self.shortest_ms * (self.longest_ms / self.shortest_ms) ** share


def over_ms(odds: Array, asks_ms: Sequence[float], waits: Array) -> Array:
    """Silence after which each pause is over, by `s2s.turns.grace.decided_ms`; infinite where
    speech was back before the judgement that would tell.

    odds, waits: [rows, asks]; asks_ms: where the judgements were made, the first one included.
    """
    over = np.full(len(odds), np.inf)
    open_ = np.ones(len(odds), bool)
    for at, asked_ms in enumerate(asks_ms):
        next_ms = asks_ms[at + 1] if at + 1 < len(asks_ms) else np.inf
        wait = np.maximum(waits[:, at], asked_ms)
        open_ &= ~np.isnan(odds[:, at])
        now = open_ & (wait < next_ms)
        over[now] = wait[now]
        open_ &= ~now
    return over


@dataclass(frozen=True, slots=True)
class EndOutcome:
    """What a policy does: delays of the ends, ms, and which other pauses it cuts off."""

    delay_ms: Array
    cut: npt.NDArray[np.bool_]
    natural: npt.NDArray[np.bool_]

    def figures(self) -> Array:
        """Share of pauses cut off, of natural ones; median, mean, p90 of the delay; share of ends
        over a second."""
        delay = self.delay_ms
        own = self.cut[self.natural].mean() if self.natural.any() else np.nan
        return np.array(
            [self.cut.mean(), own, np.median(delay), delay.mean(), np.percentile(delay, 90),
             (delay > 1000).mean()]
        )  # fmt: skip


def outcome(pauses: PauseTable, over: Array, models_ms: float) -> EndOutcome:
    committed = np.maximum(over, pauses.noticed_ms + models_ms)
    return EndOutcome(
        (committed - pauses.true_ms)[pauses.end],
        (committed < pauses.back_ms)[~pauses.end],
        pauses.natural[~pauses.end],
    )


# --- fitting -------------------------------------------------------------------------------------

WITNESSES = ("sound", "words", "model")
WAITS = [Wait(0.0, 0.3, 260.0, longest) for longest in (1400.0, 1700.0, 2000.0)]
"""Waits that are tried. Wider ones make the median later, narrower ones are the cliff that this is
to replace, a shorter one at the sure end cuts off more natural pauses
(docs/decisions/shape-of-the-wait.md)."""
MIDDLES = np.arange(-3.0, 5.01, 0.05)

BEFORE = ((-0.2, 2000.0), (1.8, 1500.0), (1.9, 240.0), (5.0, 235.0), (7.0, 100.0))
"""The rule before: log-odds of sound and words, summed as they are, and the wait in ms."""


def before(pauses: PauseTable) -> Array:
    """Silence after which each pause is over by the rule before."""
    at, waits = zip(*BEFORE, strict=True)
    return np.exp(np.interp(pauses.sound[:, 0] + pauses.words, at, np.log(waits)))


def weights(pauses: PauseTable, witnesses: Sequence[str]) -> Array:
    """The constant, then sound, words and model (0 for one that is not of `witnesses`), fitted on
    the first judgement of each pause."""
    columns = [pauses.sound[:, 0], pauses.words, pauses.model]
    used = [at for at, name in enumerate(WITNESSES) if name in witnesses]
    found = logistic(np.column_stack([columns[at] for at in used]), pauses.end.astype(float))
    whole = np.zeros(1 + len(WITNESSES))
    whole[[0, *(1 + at for at in used)]] = found
    return whole


def odds(pauses: PauseTable, weights_: Array) -> Array:
    """Log-odds of "over" at each judgement, [rows, asks]; NaN where speech was back."""
    constant, sound, words, model = weights_
    fixed = constant + words * pauses.words + model * pauses.model
    heard = pauses.sound if sound else np.where(np.isnan(pauses.sound), np.nan, 0.0)
    return fixed[:, None] + sound * heard


def wait_for(
    pauses: PauseTable, odds_: Array, asks_ms: Sequence[float], target: float, models_ms: float,
    tried: Sequence[Wait] = WAITS,
) -> Wait:  # fmt: skip
    """The wait with the least mean delay that cuts off no more than `target` of the pauses."""
    best, least = None, np.inf
    for wait in tried:
        for middle in MIDDLES:  # the first that is patient enough
            shifted = Wait(float(middle), wait.width, wait.shortest_ms, wait.longest_ms)
            found = outcome(pauses, over_ms(odds_, asks_ms, shifted.ms(odds_)), models_ms)
            if found.cut.mean() <= target:
                if found.delay_ms.mean() < least:
                    best, least = shifted, float(found.delay_ms.mean())
                break
    if best is None:
        raise ValueError(f"no wait cuts off as few as {100 * target:.1f} % of the pauses")
    return best


def allowed(pauses: PauseTable, target: float | None, models_ms: float) -> float:
    """Share of pauses that may be cut off: `target`, or what the rule before cuts."""
    if target is not None:
        return target
    return float(outcome(pauses, before(pauses), models_ms).cut.mean())


def held_out(
    pauses: PauseTable, witnesses: Sequence[str], asks_ms: Sequence[float], target: float | None,
    models_ms: float, leads: Sequence[float] = (0.0,),
) -> tuple[Array, Array]:  # fmt: skip
    """Silence after which each pause is over, [leads, rows], by weights and wait found on the other
    folds, for evidence stronger by each of `leads`; and the log-odds, [rows, asks], by those
    weights."""
    over, all_odds = np.empty((len(leads), len(pauses.end))), np.empty_like(pauses.sound)
    names = np.random.default_rng(0).permutation(pauses.recording.max() + 1)
    for fold in range(FOLDS):
        test = np.isin(pauses.recording, names[fold::FOLDS])
        train = pauses.rows(~test)
        found = weights(train, witnesses)
        share = allowed(train, target, models_ms)
        wait = wait_for(train, odds(train, found), asks_ms, share, models_ms)
        all_odds[test] = odds(pauses.rows(test), found)
        for at, lead in enumerate(leads):
            over[at, test] = over_ms(all_odds[test], asks_ms, wait.ms(all_odds[test] + lead))
    return over, all_odds


# --- the report ----------------------------------------------------------------------------------

FIGURES = ("pauses cut", "natural cut", "median ms", "mean ms", "p90 ms", "over 1 s")


def interval(
    pauses: PauseTable, over: Array, other: Array, models_ms: float, draws: int = 1000
) -> Array:
    """What `over` does less what `other` does on the same pauses, each of `FIGURES`: 95 % of draws
    of the recordings lie between, float64 [2, figures]."""
    random = np.random.default_rng(0)
    rows = [np.flatnonzero(pauses.recording == name) for name in np.unique(pauses.recording)]
    found: list[Array] = []
    for _ in range(draws):
        chosen = random.integers(0, len(rows), len(rows)).tolist()
        drawn = np.concatenate([rows[int(at)] for at in chosen])
        some = pauses.rows(drawn)
        mine = outcome(some, over[drawn], models_ms).figures()
        found.append(mine - outcome(some, other[drawn], models_ms).figures())
    return np.nanpercentile(np.array(found), [2.5, 97.5], axis=0)


def report(
    pauses: PauseTable, asks_ms: Sequence[float], target: float | None, models_ms: float
) -> None:
    """Each set of witnesses at the same share of pauses cut off, on recordings not fitted on."""
    once = asks_ms[:1]
    columns = _columns(pauses)
    columns["sound"] = pauses.sound[:, :1]
    first = PauseTable(**columns)
    judged = pauses.sound[:, :1] + pauses.words[:, None]
    rows = {"before": (first, before(first), judged)}
    tried = (
        ("sound", ("sound",), first, once),
        ("words", ("words",), first, once),
        ("model", ("model",), first, once),
        ("sound, words", ("sound", "words"), first, once),
        ("all three", WITNESSES, first, once),
        ("sound again", ("sound",), pauses, asks_ms),
        ("all, again", WITNESSES, pauses, asks_ms),
    )
    for name, witnesses, some, asks in tried if len(asks_ms) > 1 else tried[:-2]:
        over, judged = held_out(some, witnesses, asks, target, models_ms)
        rows[name] = (some, over[0], judged)
    print(f"{'':>14} {'AUC':>6} {'natural':>8} " + " ".join(f"{name:>11}" for name in FIGURES))
    for name, (some, over, log_odds_) in rows.items():
        known = log_odds_[:, 0]
        own = pauses.end | pauses.natural
        areas = [area(known, pauses.end), area(known[own], pauses.end[own])]
        figures = outcome(some, over, models_ms).figures()
        print(
            f"{name:>14} {areas[0]:6.3f} {areas[1]:8.3f} "
            + " ".join(_shown(value, at) for at, value in enumerate(figures))
        )
    for name, other in (
        ("all three", "before"),
        ("all three", "sound, words"),
        ("all, again", "all three"),
    ):
        if name not in rows:
            continue
        low, high = interval(pauses, rows[name][1], rows[other][1], models_ms)
        shown = (
            f"{figure} {_shown(a, at).strip()} to {_shown(b, at).strip()}"
            for at, (figure, a, b) in enumerate(zip(FIGURES, low, high, strict=True))
        )
        print(f"{name} less {other}: " + "; ".join(shown))


def report_starts(
    heard: Sequence[HeardPause], pauses: PauseTable, target: float | None, models_ms: float
) -> None:
    """Answers that begin before the end is certain: what it costs and wins, held out."""
    over, _ = held_out(pauses, WITNESSES, (2.0 * WINDOW_MS,), target, models_ms, LEADS)
    with_words = [pause for pause in heard if pause.model is not None]
    rows = {id(pause): row for row, pause in enumerate(with_words)}
    for at, lead in enumerate(LEADS):
        found = costs(
            with_words,
            lambda pause, at=at: float(over[at, rows[id(pause)]]),
            lambda pause: float(over[0, rows[id(pause)]]),
            models_ms,
        )
        print(f"lead {lead}: {found}")


def _shown(value: float, at: int) -> str:
    return f"{100 * value:10.1f}%" if FIGURES[at] in SHARES else f"{value:11.0f}"


LEADS = (0.0, 0.5, 0.6, 0.75, 1.0)
SHARES = ("pauses cut", "natural cut", "over 1 s")


def _columns(pauses: PauseTable) -> dict[str, Any]:
    return {name: getattr(pauses, name) for name in PauseTable.__slots__}


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the witnesses of the end of a turn.")
    parser.add_argument(
        "folder", type=existing_folder, nargs="+", help="heard by s2s.bench.turn_ends.evidence"
    )
    parser.add_argument("--target", type=float, help="share of pauses cut off")
    parser.add_argument(
        "--models-ms", type=float, default=150.0, help="until the evidence is there"
    )
    parser.add_argument("--again", type=int, nargs="*", default=[], help="ms of silence")
    arguments = parser.parse_args()
    pauses = [pause for folder in arguments.folder for pause in read(folder)]
    known = table(pauses, arguments.again)
    asks_ms = (2.0 * WINDOW_MS, *map(float, arguments.again))
    print(
        f"{len(set(known.recording.tolist()))} recordings, {known.end.sum()} ends, "
        f"{(~known.end).sum()} other pauses, {(~known.end & known.natural).sum()} of them natural"
    )
    report(known, asks_ms, arguments.target, arguments.models_ms)
    print("\nStarts before the end is certain:")
    report_starts(pauses, known, arguments.target, arguments.models_ms)
    print("\nFitted on all:")
    for some in (WITNESSES, WITNESSES[:2], WITNESSES[:1], WITNESSES[1:]):
        print(f"{' '.join(some):>18}", np.round(weights(known, some), 3).tolist())
    found = odds(known, weights(known, WITNESSES))
    share = allowed(known, arguments.target, arguments.models_ms)
    wait = wait_for(known, found, asks_ms, share, arguments.models_ms)
    points = np.arange(wait.middle - 4 * wait.width, wait.middle + 4.1 * wait.width, wait.width)
    print(wait, [(round(float(at), 2), round(float(wait.ms(np.array(at))))) for at in points])


if __name__ == "__main__":
    sys.exit(run_measurement(main))
