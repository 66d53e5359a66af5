"""One timeline a response, on one clock: where the time between the person and the answer goes.

Knows nothing about stages; they mark points by name.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from s2s.core.messages import TurnId

Point = Literal[
    "speech_stopped",
    "endpoint",
    "transcript",
    "first_token",
    "first_sentence",
    "first_audio",
    "provisional",
    "first_played",
    "committed",
]
POINTS: tuple[Point, ...] = Point.__args__  # pyright: ignore[reportAttributeAccessIssue]
"""In the order in which they usually happen. `speech_stopped` is the end of speech itself;
`provisional` is when the answer began that was committed later."""

MAX_OPEN = 64
"""Revisions of turns that wait to be heard; most of them never are."""
MAX_FINISHED = 4096
"""Timelines kept for a summary, the newest: a day of talk, in some megabytes."""


@dataclass(slots=True)
class Timeline:
    """The marks of one revision of a turn, in seconds on the session's clock."""

    turn: TurnId
    marks: dict[Point, float] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    """Measures that are no points in time, such as the TTS real-time factor."""
    segments: list[Mapping[str, str | float]] = field(default_factory=list)
    """How each segment of the answer was spoken, where the TTS backend tells: why it ended, under
    "stop_reason", and what it counts."""
    taken_back_s: float | None = None
    """When the answer, which had begun provisionally, was taken back; None: it was not."""

    def since_speech_ms(self) -> dict[str, float]:
        """Each mark in ms after the end of speech."""
        start_s = self.marks.get("speech_stopped")
        if start_s is None:
            return {}
        return {
            point: round(1000 * (self.marks[point] - start_s), 1)
            for point in POINTS
            if point in self.marks and point != "speech_stopped"
        }

    @property
    def latency_ms(self) -> float | None:
        """End of speech to the first sample played, or None when nothing was played."""
        return self.since_speech_ms().get("first_played")


class Metrics:
    """Timelines of a session, also as JSON lines in a file. Safe from any thread.

    Args:
        path: the file; None: none.
        on_finished: told the timeline of each answer that was heard; must not wait.
        keep: timelines that are kept for a summary.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        on_finished: Callable[[Timeline], None] = lambda _: None,
        keep: int = MAX_FINISHED,
    ) -> None:
        self._lock = threading.Lock()
        self._on_finished = on_finished
        self._open: OrderedDict[TurnId, Timeline] = OrderedDict()
        self._finished: deque[Timeline] = deque(maxlen=keep)
        self._taken_back: deque[Timeline] = deque(maxlen=keep)
        self._listeners: list[Callable[[Timeline], None]] = []
        self._file = open(path, "a", encoding="utf-8") if path is not None else None  # noqa: SIM115

    def tell(self, listener: Callable[[Timeline], None]) -> None:
        """Have `listener` told every timeline that is closed, those of answers that were taken back
        too; must not wait."""
        self._listeners.append(listener)

    def mark(self, turn: TurnId, point: Point, at_s: float) -> None:
        """Note when `point` was reached; the first mark of a point counts."""
        with self._lock:
            self._timeline(turn).marks.setdefault(point, at_s)

    def value(self, turn: TurnId, name: str, value: float) -> None:
        """Note a measure of a turn; the last one counts."""
        with self._lock:
            self._timeline(turn).values[name] = value

    def segment(self, turn: TurnId, stop_reason: str, measures: Mapping[str, float]) -> None:
        """Note how a segment of the answer was spoken, and why it ended."""
        with self._lock:
            self._timeline(turn).segments.append({"stop_reason": stop_reason, **measures})

    def finish(self, turn: TurnId) -> Timeline | None:
        """The answer was heard: close and return its timeline."""
        with self._lock:
            timeline = self._open.pop(turn, None)
            if timeline is None:
                return None
            self._finished.append(timeline)
            self._write(timeline)
        self._on_finished(timeline)
        self._tell(timeline)
        return timeline

    def taken_back(self, turn: TurnId, at_s: float) -> None:
        """The answer had begun, and the person went on at `at_s`: close its timeline as that."""
        with self._lock:
            timeline = self._timeline(turn)
            del self._open[turn]
            timeline.taken_back_s = at_s
            self._taken_back.append(timeline)
            self._write(timeline)
        self._tell(timeline)

    def finished(self) -> list[Timeline]:
        """The last timelines of answers that were heard, oldest first; as many as are kept."""
        with self._lock:
            return list(self._finished)

    def starts_taken_back(self) -> list[Timeline]:
        """The last timelines of answers that began and were taken back."""
        with self._lock:
            return list(self._taken_back)

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _tell(self, timeline: Timeline) -> None:
        for listener in self._listeners:
            listener(timeline)

    def _write(self, timeline: Timeline) -> None:
        if self._file is None:
            return
        record: dict[str, object] = {
            "turn": timeline.turn.turn_id,
            "revision": timeline.turn.turn_revision,
            "ms": timeline.since_speech_ms(),
            **timeline.values,
        }
        if timeline.segments:
            record["segments"] = timeline.segments
        if timeline.taken_back_s is not None:
            record["taken_back"] = True
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def _timeline(self, turn: TurnId) -> Timeline:
        timeline = self._open.get(turn)
        if timeline is None:
            timeline = self._open[turn] = Timeline(turn)
            while len(self._open) > MAX_OPEN:  # revisions that were never heard
                self._open.popitem(last=False)
        return timeline


def percentile(values: Iterable[float], share: float) -> float:
    """The value below which `share` (0 to 1) of `values` lie, by linear interpolation.

    Raises:
        ValueError: no values, or a share outside 0 to 1.
    """
    ordered = sorted(values)
    if not ordered or not 0 <= share <= 1:
        raise ValueError(f"needs values and a share in [0, 1], got {len(ordered)} and {share}")
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def summary(timelines: Iterable[Timeline]) -> Mapping[str, Mapping[str, float]]:
    """p50, p90 and p95 of each point in ms after the end of speech."""
    by_point: dict[str, list[float]] = {}
    for timeline in timelines:
        for point, after_ms in timeline.since_speech_ms().items():
            by_point.setdefault(point, []).append(after_ms)
    return {
        point: {
            "p50": round(percentile(by_point[point], 0.5), 1),
            "p90": round(percentile(by_point[point], 0.9), 1),
            "p95": round(percentile(by_point[point], 0.95), 1),
            "n": len(by_point[point]),
        }
        for point in POINTS
        if point in by_point
    }
