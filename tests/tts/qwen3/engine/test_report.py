"""What an utterance's report says of it, and of the machine."""

from __future__ import annotations

import pytest

from s2s.tts.base import SegmentReport
from s2s.tts.qwen3.engine.chunk_schedule import Costs
from s2s.tts.qwen3.engine.report import Report
from s2s.tts.qwen3.engine.stop_rules import StopReason

SPOKEN = Report(
    stop_reason=StopReason.LIMIT,
    frames=10,
    prefill_s=0.1,
    stall_s=7.0,
    talker_s=[0.02] * 9,
    predictor_s=[0.03] * 10,
    forward_passes=95,
    trimmed_frames=1,
    decoded_frames=[2, 8],
    codec_s=[0.06, 0.18],
    chunk_frames=[1, 8],
    chunk_at_s=[0.25, 0.9],
)


def test_the_two_latencies_are_told_apart() -> None:
    assert SPOKEN.chunk_at_s[0] == 0.25
    assert SPOKEN.uninterrupted_start_s == pytest.approx(0.9 - 0.08)


def test_costs_are_those_of_a_frame_and_of_a_call() -> None:
    costs = SPOKEN.costs(overlapped=True)
    expected = Costs(50.0, 20.0, 20.0, overlapped=True)
    assert [costs.codes_ms, costs.call_ms, costs.decode_ms] == pytest.approx(
        [expected.codes_ms, expected.call_ms, expected.decode_ms]
    )
    assert costs.overlapped


def test_a_segment_says_why_it_ended_and_what_it_took() -> None:
    segment = SPOKEN.segment
    assert segment.stop_reason == "limit"
    assert segment.measures == {
        "frames": 10,
        "trimmed_frames": 1,
        "forward_passes_a_frame": 9.5,
        "rtf": round((0.1 + 0.18 + 0.3 + 0.24) / 0.72, 3),  # nothing of the seven seconds
        "first_chunk_ms": 250.0,
        "uninterrupted_start_ms": 820.0,
    }


def test_a_segment_of_nothing_has_few_measures() -> None:
    assert Report().segment == SegmentReport("stopped", {"frames": 0, "trimmed_frames": 0})


def test_a_discarded_run_counts_as_work_only() -> None:
    report = Report(
        stop_reason=StopReason.REPETITION, frames=20, trailing_frames=20, talker_s=[0.02] * 20
    )
    report.again()
    assert (report.stop_reason, report.frames, report.trailing_frames) == (None, 0, 0)
    assert report.retries == 1
    assert report.work_s == pytest.approx(0.4)
