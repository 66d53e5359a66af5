"""What the server counts, in the text form that Prometheus reads. Safe from any thread."""

from __future__ import annotations

import itertools
import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import psutil

from s2s.core.events import Event, Interruption, ResponseDone, SpeechDropped, TakenBack
from s2s.core.metrics import Point, Timeline

Labels = tuple[tuple[str, str], ...]

BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
"""Upper ends of the histograms' steps."""

STAGES: tuple[tuple[str, Point, Point], ...] = (
    ("end_of_turn", "speech_stopped", "endpoint"),
    ("stt", "speech_stopped", "transcript"),
    ("llm", "transcript", "first_sentence"),
    ("tts", "first_sentence", "first_audio"),
    ("playback", "first_audio", "first_played"),
    ("answer", "speech_stopped", "first_played"),
)
"""Stage, and the points between which its time is taken. Stages overlap: speech is written down
and an answer made while it is still being decided whether the turn is over."""

COUNTED = {
    "s2s_sessions_total": "Conversations that were begun.",
    "s2s_sessions_resumed_total": "Conversations that went on after a dropped connection.",
    "s2s_refused_total": "Clients that were not let in, by the reason they were told.",
    "s2s_connections_ended_total": "Ends of connections, by how they came.",
    "s2s_responses_total": "Answers, by how they ended.",
    "s2s_interruptions_total": "Speech during playback, by what came of it: cancel is a barge-in.",
    "s2s_taken_back_total": "Answers that had begun, and for which the person went on.",
    "s2s_turns_dropped_total": "Speech that was not answered: not meant for the assistant.",
    "s2s_errors_total": "Failures, by where and what: `error` events by their code, answers.",
    "s2s_http_requests_total": "HTTP requests, by endpoint and status.",
    "s2s_speech_seconds_total": "Seconds of speech made by /v1/audio/speech.",
    "s2s_transcribed_seconds_total": "Seconds of sound given to /v1/audio/transcriptions.",
}
"""Name of each counter -> what it counts."""


@dataclass(slots=True)
class _Histogram:
    """How often a time fell into each step."""

    steps: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    total_s: float = 0.0

    def add(self, seconds: float) -> None:
        self.steps[bisect_left(BUCKETS_S, seconds)] += 1
        self.total_s += seconds

    def lines(self, name: str, label: str) -> Iterator[str]:
        """`label` is `stage="stt"`."""
        below = itertools.accumulate(self.steps)
        for end, count in zip((*map(str, BUCKETS_S), "+Inf"), below, strict=True):
            yield f'{name}_bucket{{{label},le="{end}"}} {count}'
        yield f"{name}_sum{{{label}}} {self.total_s:.6f}"
        yield f"{name}_count{{{label}}} {sum(self.steps)}"


class ServerMetrics:
    """Counters and histograms since the start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, dict[Labels, float]] = {name: {} for name in COUNTED}
        self._stages = {stage: _Histogram() for stage, _, _ in STAGES}
        self._process = psutil.Process()

    def count(self, name: str, by: float = 1, **labels: str) -> None:
        """Add to a counter of `COUNTED`."""
        key = tuple(sorted(labels.items()))
        with self._lock:
            values = self._counters[name]
            values[key] = values.get(key, 0) + by

    def on_event(self, event: Event) -> None:
        """An event of any session."""
        match event:
            case ResponseDone():
                self.count("s2s_responses_total", status=event.status)
                if event.error is not None:
                    self.count("s2s_errors_total", where="answer", code="failed")
            case Interruption():
                self.count("s2s_interruptions_total", action=event.action)
            case TakenBack():
                self.count("s2s_taken_back_total")
            case SpeechDropped():
                self.count("s2s_turns_dropped_total")
            case _:
                pass

    def on_timeline(self, timeline: Timeline) -> None:
        """An answer was heard: where its time went."""
        marks = timeline.marks
        with self._lock:
            for stage, start, end in STAGES:
                if start in marks and end in marks:
                    self._stages[stage].add(max(0.0, marks[end] - marks[start]))

    def text(self, now: Mapping[str, float]) -> str:
        """Everything. now: gauges by name -> value."""
        gauges = dict(now) | {
            "process_resident_memory_bytes": float(self._process.memory_info().rss),
            "process_threads": float(threading.active_count()),
        }
        lines: list[str] = []
        for name, value in gauges.items():
            lines += [f"# TYPE {name} gauge", f"{name} {value:.15g}"]
        with self._lock:
            for name, about in COUNTED.items():
                lines += [f"# HELP {name} {about}", f"# TYPE {name} counter"]
                for labels, value in self._counters[name].items() or [((), 0.0)]:
                    lines.append(f"{name}{_braces(labels)} {value:.15g}")
            name = "s2s_stage_seconds"
            lines += [f"# HELP {name} Time of each stage of an answer.", f"# TYPE {name} histogram"]
            for stage, histogram in self._stages.items():
                lines += histogram.lines(name, f'stage="{stage}"')
        return "\n".join(lines) + "\n"


def _braces(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
