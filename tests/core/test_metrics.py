"""Timelines and percentiles."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.messages import TurnId
from s2s.core.metrics import MAX_FINISHED, MAX_OPEN, Metrics, Timeline, percentile, summary

TURN = TurnId("t", 0)


def test_a_timeline_counts_from_the_end_of_speech_and_the_first_mark_counts() -> None:
    metrics = Metrics()
    metrics.mark(TURN, "speech_stopped", 10.0)
    metrics.mark(TURN, "first_played", 10.4)
    metrics.mark(TURN, "first_played", 11.0)
    timeline = metrics.finish(TURN)
    assert timeline is not None
    assert timeline.since_speech_ms() == {"first_played": 400.0}
    assert timeline.latency_ms == 400.0
    assert metrics.finish(TURN) is None


def test_finished_timelines_are_json_lines(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "m.jsonl")
    metrics.mark(TURN, "speech_stopped", 1.0)
    metrics.mark(TURN, "transcript", 1.25)
    metrics.value(TURN, "tts_rtf", 0.5)
    metrics.finish(TURN)
    metrics.close()
    (line,) = (tmp_path / "m.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "turn": "t",
        "revision": 0,
        "ms": {"transcript": 250.0},
        "tts_rtf": 0.5,
    }


def test_segments_are_told_of_in_order(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "m.jsonl")
    metrics.segment(TURN, "end", {"frames": 40, "rtf": 0.5})
    metrics.segment(TURN, "repetition", {"frames": 24})
    metrics.finish(TURN)
    metrics.close()
    assert json.loads((tmp_path / "m.jsonl").read_text())["segments"] == [
        {"stop_reason": "end", "frames": 40, "rtf": 0.5},
        {"stop_reason": "repetition", "frames": 24},
    ]


def test_revisions_that_are_never_heard_do_not_pile_up() -> None:
    metrics = Metrics()
    for revision in range(3 * MAX_OPEN):
        metrics.mark(TurnId("t", revision), "speech_stopped", 0.0)
    assert metrics.finish(TurnId("t", 0)) is None
    assert metrics.finish(TurnId("t", 3 * MAX_OPEN - 1)) is not None


def test_of_what_was_heard_the_newest_timelines_are_kept() -> None:
    metrics = Metrics()
    turns = [TurnId(f"t{number}", 0) for number in range(MAX_FINISHED + 3)]
    for turn in turns:
        metrics.mark(turn, "speech_stopped", 0.0)
        metrics.finish(turn)
    assert [timeline.turn for timeline in metrics.finished()] == turns[3:]


def test_without_speech_there_is_no_latency() -> None:
    metrics = Metrics()
    metrics.mark(TURN, "first_played", 1.0)
    timeline = metrics.finish(TURN)
    assert timeline is not None
    assert timeline.latency_ms is None
    assert summary([timeline]) == {}


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0, 1))
def test_percentiles_are_those_of_numpy(values: list[float], share: float) -> None:
    assert percentile(values, share) == pytest.approx(np.percentile(values, 100 * share), abs=1e-6)


def test_percentiles_of_nothing_are_an_error() -> None:
    with pytest.raises(ValueError, match="needs values"):
        percentile([], 0.5)


def test_starts_that_were_taken_back_are_kept_apart_and_written(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "m.jsonl")
    metrics.mark(TURN, "speech_stopped", 1.0)
    metrics.mark(TURN, "first_played", 1.3)
    metrics.taken_back(TURN, 1.8)
    metrics.close()
    assert metrics.finished() == []
    (timeline,) = metrics.starts_taken_back()
    assert (timeline.latency_ms, timeline.taken_back_s) == (300.0, 1.8)
    record = json.loads((tmp_path / "m.jsonl").read_text())
    assert record == {
        "turn": "t",
        "revision": 0,
        "ms": {"first_played": 300.0},
        "taken_back": True,
    }


def test_finished_timelines_are_told_once() -> None:
    told: list[Timeline] = []
    metrics = Metrics(on_finished=told.append)
    metrics.mark(TURN, "speech_stopped", 1.0)
    assert metrics.finish(TURN) is not None
    assert metrics.finish(TURN) is None
    assert [timeline.turn for timeline in told] == [TURN]


def test_listeners_are_told_of_every_timeline_that_is_closed() -> None:
    told: list[Timeline] = []
    metrics = Metrics()
    metrics.tell(told.append)
    metrics.mark(TURN, "speech_stopped", 1.0)
    metrics.finish(TURN)
    metrics.mark(TURN, "speech_stopped", 3.0)
    metrics.taken_back(TURN, 4.0)
    assert told == [*metrics.finished(), *metrics.starts_taken_back()]
    assert [timeline.taken_back_s for timeline in told] == [None, 4.0]
