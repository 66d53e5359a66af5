"""What is counted, and the text that Prometheus reads."""

from __future__ import annotations

import re

import pytest

from s2s.core.events import Interruption, Notice, ResponseDone, SpeechDropped, TakenBack
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Timeline
from s2s.transport.server.metrics import BUCKETS_S, COUNTED, STAGES, ServerMetrics

RESPONSE = ResponseId("t1", 0, 0, "r1")


def values(metrics: ServerMetrics, **gauges: float) -> dict[str, float]:
    """Every line of the text, read."""
    found: dict[str, float] = {}
    for line in metrics.text(gauges).splitlines():
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP \w+ .+|TYPE \w+ (counter|gauge|histogram))", line), line
            continue
        name, value = line.rsplit(" ", 1)
        assert re.fullmatch(r'[a-z0-9_]+(\{(\w+="[^"\n]*",?)+\})?', name), line
        assert name not in found
        found[name] = float(value)
    return found


def test_every_counter_and_stage_is_there_from_the_beginning():
    found = values(ServerMetrics(), s2s_sessions=2.0)
    assert found["s2s_sessions"] == 2
    assert found["process_resident_memory_bytes"] > 1e6
    assert found["process_threads"] >= 1
    assert set(COUNTED) <= set(found)
    for stage, _, _ in STAGES:
        assert found[f's2s_stage_seconds_count{{stage="{stage}"}}'] == 0


def test_events_are_counted():
    metrics = ServerMetrics()
    metrics.on_event(ResponseDone(RESPONSE, "completed", "Yes."))
    metrics.on_event(ResponseDone(RESPONSE, "failed", "", error="the model fell over"))
    metrics.on_event(Interruption("cancel", 1))
    metrics.on_event(Interruption("duck", 1))
    metrics.on_event(TakenBack(RESPONSE, ""))
    metrics.on_event(SpeechDropped(TurnId("t1", 0), "words", "not meant"))
    metrics.on_event(Notice("a private thing"))
    found = values(metrics)
    assert found['s2s_responses_total{status="completed"}'] == 1
    assert found['s2s_responses_total{status="failed"}'] == 1
    assert found['s2s_errors_total{code="failed",where="answer"}'] == 1
    assert found['s2s_interruptions_total{action="cancel"}'] == 1
    assert found['s2s_interruptions_total{action="duck"}'] == 1
    assert found["s2s_taken_back_total"] == 1
    assert found["s2s_turns_dropped_total"] == 1
    text = metrics.text({})
    assert "fell over" not in text
    assert "private" not in text
    assert "words" not in text


def test_the_stages_of_an_answer_are_taken_apart():
    metrics = ServerMetrics()
    marks = {"speech_stopped": 10.0, "endpoint": 10.29, "transcript": 10.25, "first_sentence": 10.5,
             "first_audio": 10.52, "first_played": 10.6}  # fmt: skip
    metrics.on_timeline(Timeline(TurnId("t1", 0), dict(marks)))  # pyright: ignore[reportArgumentType]
    metrics.on_timeline(Timeline(TurnId("t2", 0), {"speech_stopped": 1.0, "endpoint": 41.0}))
    found = values(metrics)
    assert found['s2s_stage_seconds_sum{stage="stt"}'] == pytest.approx(0.25)
    assert found['s2s_stage_seconds_sum{stage="llm"}'] == pytest.approx(0.25)
    assert found['s2s_stage_seconds_sum{stage="answer"}'] == pytest.approx(0.6)
    assert found['s2s_stage_seconds_count{stage="end_of_turn"}'] == 2
    steps = [found[f's2s_stage_seconds_bucket{{stage="end_of_turn",le="{end}"}}']
             for end in (*BUCKETS_S, "+Inf")]  # fmt: skip
    assert steps == sorted(steps)
    assert steps[BUCKETS_S.index(0.3)] == 1
    assert steps[-2:] == [1, 2]


def test_labels_are_escaped():
    metrics = ServerMetrics()
    metrics.count("s2s_refused_total", reason='a"b\\c\nd')
    assert 's2s_refused_total{reason="a\\"b\\\\c\\nd"} 1' in metrics.text({})
