"""Finds what is fastest on this machine by trying: threads, draft tokens.

Everything that is compared is tried in turn, several times over: whatever else the machine does
then slows all of it down alike. Why: docs/decisions/qwen3-measuring.md.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Protocol, TypeVar

from s2s.tts.qwen3.calibrate.cache import USUAL_CHUNK, Speed
from s2s.tts.qwen3.engine.chunk_schedule import FRAME_MS, ScheduleConfig, edge_schedule
from s2s.tts.qwen3.engine.costs import Costs
from s2s.tts.qwen3.engine.report import Report

log = logging.getLogger(__name__)

ROUNDS = 3
"""Each setting is tried so often, in turn with the others."""
USUAL_FRAMES = 60
"""Frames of the utterance from which the real-time factor is taken: about five seconds."""
GAIN = 0.97
"""More threads, draft tokens or another core must bring at least this much: below it they only cost
power."""
_PROBE_FRAMES = 8
_DRAFT_TOKENS = (1, 2, 3)

Value = TypeVar("Value")


class Tunable(Protocol):
    """A model that can be run with other settings from the next utterance on."""

    def use_threads(self, threads: int) -> bool:
        """False when the backend's threads are fixed."""
        ...

    def use_draft_tokens(self, draft_tokens: int) -> None:
        """How many draft tokens are verified in each predictor pass."""
        ...


Speak = Callable[[int, ScheduleConfig], Report]
"""Speaks that many frames, unheard, in those chunks."""


@dataclass(frozen=True, slots=True)
class SettingTrial:
    """One setting that was tried, and what a frame took each time, in milliseconds."""

    what: str
    frame_ms: tuple[float, ...]

    @property
    def best_ms(self) -> float:
        """The time that was disturbed least."""
        return min(self.frame_ms)


@dataclass(frozen=True, slots=True)
class Tuned:
    """The fastest settings, and all that were tried."""

    speed: Speed
    trials: tuple[SettingTrial, ...]


def tune(
    model: Tunable,
    speak: Speak,
    threads: int,
    draft_tokens: int | None,
    *,
    overlapped: bool = False,
) -> Tuned:
    """Find the fastest settings by speaking a few frames with each, and leave the model with them.

    threads: the most. draft_tokens: None tries; a number stays. overlapped: codes are made while
    others are decoded.
    """
    whole = ScheduleConfig(
        initial_codec_chunk_frames=_PROBE_FRAMES, codec_chunk_frames=_PROBE_FRAMES
    )

    def codes_ms() -> float:
        return speak(_PROBE_FRAMES, whole).costs().codes_ms

    model.use_draft_tokens(draft_tokens or 0)
    codes_ms()  # the first run is slower than all others
    counts = [count for count in _counts(threads) if model.use_threads(count)] or [threads]
    best_threads, trials = _tried("threads", counts, model.use_threads, codes_ms)
    best_draft_tokens = draft_tokens or 0
    if draft_tokens is None:
        best_draft_tokens, drafted = _tried(
            "draft tokens", (0, *_DRAFT_TOKENS), model.use_draft_tokens, codes_ms
        )
        trials += drafted
    costs = _costs(speak, overlapped)
    rtf = real_time_factor(speak(USUAL_FRAMES, edge_schedule(costs)), costs)
    return Tuned(Speed.of(best_threads, best_draft_tokens, costs, rtf), trials)


def quick(speak: Speak, threads: int, draft_tokens: int, *, overlapped: bool) -> Speed:
    """What a frame takes with the usual settings: on a machine that is too busy to try others."""
    costs = _costs(speak, overlapped)
    return Speed.of(threads, draft_tokens, costs, costs.frame_ms(USUAL_CHUNK) / FRAME_MS)


def real_time_factor(report: Report, costs: Costs) -> float:
    """Of an utterance that was read as fast as it came: seconds to make over seconds of sound, the
    prompt included. One without sound says what its costs come to."""
    if not report.chunk_at_s or not report.frames:
        return costs.frame_ms(USUAL_CHUNK) / FRAME_MS
    return 1000 * report.chunk_at_s[-1] / (report.frames * FRAME_MS)


def interleaved(
    values: Iterable[Value],
    use: Callable[[Value], object],
    measure: Callable[[], float],
    rounds: int = ROUNDS,
) -> dict[Value, tuple[float, ...]]:
    """Measures each value so often, one after the other in every round."""
    values = list(values)
    found: dict[Value, tuple[float, ...]] = dict.fromkeys(values, ())
    for _ in range(rounds):
        for value in values:
            use(value)
            found[value] += (round(measure(), 3),)
    return found


def fastest(found: Mapping[Value, tuple[float, ...]]) -> Value:
    """The first value, or a later one that is clearly faster."""
    best, *others = found
    for value in others:
        if min(found[value]) < min(found[best]) * GAIN:
            best = value
    return best


def _tried(
    what: str, values: Iterable[int], use: Callable[[int], object], measure: Callable[[], float]
) -> tuple[int, tuple[SettingTrial, ...]]:
    """The fastest value, which is in use then, and what all took; one alone is not measured."""
    values = list(values)
    if len(values) == 1:
        use(values[0])
        return values[0], ()
    found = interleaved(values, use, measure)
    best = fastest(found)
    use(best)
    return best, tuple(SettingTrial(f"{what} {value}", times) for value, times in found.items())


def _costs(speak: Speak, overlapped: bool) -> Costs:
    """Medians of three short utterances, in chunks of two sizes."""
    mixed = ScheduleConfig(initial_codec_chunk_frames=1, codec_chunk_frames=USUAL_CHUNK)
    found = [speak(1 + USUAL_CHUNK, mixed).costs(overlapped) for _ in range(ROUNDS)]
    times = zip(*((each.codes_ms, each.call_ms, each.decode_ms) for each in found), strict=True)
    return Costs(*(round(median(values), 3) for values in times), overlapped=overlapped)


def _counts(most: int) -> list[int]:
    """``most`` threads, and fewer, each once."""
    return list(dict.fromkeys([most, *(count for count in (most // 2, 1) if count > 0)]))
