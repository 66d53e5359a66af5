"""Where the time between a person and the answer went: a timeline as stages, one behind the other.

Stages overlap: an answer is made while it is still being decided whether the turn is over. What is
told of a timeline is what was reached next, and how long that took from what was reached before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from s2s.core.metrics import Point, Timeline, percentile

STAGES: dict[Point, str] = {
    "endpoint": "turn found to be over",
    "transcript": "words written down",
    "first_token": "first word of the model",
    "first_sentence": "first sentence of the model",
    "first_audio": "first sound of the voice",
    "provisional": "held until it seemed certain",
    "committed": "held until it was certain",
    "first_played": "handed to the loudspeaker",
}
"""What ends a stage -> what it is called, in the order of a legend."""


@dataclass(frozen=True, slots=True)
class StageTime:
    """A stage of one answer."""

    point: Point
    ms: float


def stages_of(timeline: Timeline) -> list[StageTime]:
    """The stages from the end of speech to the first sound that was heard, one behind the other;
    none where nothing was heard. Together they take as long as the answer took."""
    ms = timeline.since_speech_ms()
    heard_ms = ms.get("first_played")
    if heard_ms is None:
        return []
    reached: list[Point] = [point for point in STAGES if ms.get(point, math.inf) <= heard_ms]
    reached.sort(key=lambda point: ms[point])
    found: list[StageTime] = []
    before = 0.0
    for point in reached:
        if point != "first_played" and ms[point] > before:
            found.append(StageTime(point, round(ms[point] - before, 1)))
            before = ms[point]
    if heard_ms > before:
        found.append(StageTime("first_played", round(heard_ms - before, 1)))
    return found


def typical(timelines: Iterable[Timeline]) -> tuple[float, float] | None:
    """Median and 95th percentile of the time to the first sound, ms; None where nothing sounded."""
    found: Sequence[float] = [t.latency_ms for t in timelines if t.latency_ms is not None]
    return (percentile(found, 0.5), percentile(found, 0.95)) if found else None
