"""A frame's parts against what a machine allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s.bench.qwen3.against_limits import WeightSizes, part_limits, show_limits, sizes
from s2s.bench.qwen3.machine import MachineLimits
from s2s.bench.qwen3.utterances import Summary, Times

ONE = Times(1.0, 1.0)
FOUND = Summary(
    talker_step=Times(10.0, 11.0),
    predictor_frame=Times(30.0, 31.0),
    codec_frame=Times(38.0, 39.0),
    prefill=ONE,
    first_chunk=ONE,
    uninterrupted_start=ONE,
    gap=ONE,
    rtf=1.0,
    rtf_after_prompt=0.9,
    frames_a_call=8.0,
    forward_passes_a_frame=15.0,
    audio_s=1.0,
)
LIMITS = MachineLimits(2, {240: 40.0, 43: 43.0}, 200.0)


def test_each_part_and_the_frame_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    weights = WeightSizes(240.0, 43.0)
    assert sizes(weights) == (240, 43)
    parts = part_limits(weights, LIMITS, FOUND)
    assert [(each.part, round(each.least_ms, 3), round(each.ratio, 3)) for each in parts] == [
        ("talker step", 6.0, 1.667),
        ("predictor frame", 15.0, 2.0),
        ("codec frame", 14.5, 2.621),
        ("frame", 35.5, 2.197),
    ]
    show_limits(LIMITS, parts)
    assert "codec frame" in capsys.readouterr().out


def test_draft_tokens_make_fewer_passes() -> None:
    drafted = replace(FOUND, forward_passes_a_frame=6.0)
    assert part_limits(WeightSizes(240.0, 43.0), LIMITS, drafted)[1].least_ms == pytest.approx(6.0)
