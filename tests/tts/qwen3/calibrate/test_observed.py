"""What utterances cost moves what was measured."""

from __future__ import annotations

import pytest

from s2s.tts.qwen3.calibrate.cache import Speed
from s2s.tts.qwen3.calibrate.conditions import MeasuringConditions
from s2s.tts.qwen3.calibrate.observed import LEAST_FRAMES, WORTH_KEEPING, Observed, corrected
from s2s.tts.qwen3.engine.costs import Spent

MEASURED = Speed(2, 0, 20.0, 2.0, 8.0, rtf=0.4, conditions=MeasuringConditions("Monday"))
QUIET, BUSY = MeasuringConditions("Tuesday", 0.02), MeasuringConditions("Tuesday", 0.8)


def spent(codes_ms: float, call_ms: float, frames: int = 40) -> Spent:
    """An utterance in chunks of 8 frames."""
    return Spent((codes_ms,) * frames, ((8, call_ms),) * (frames // 8))


def test_as_measured_changes_nothing() -> None:
    assert corrected(MEASURED, spent(20.0, 66.0)) == MEASURED


def test_a_machine_twice_as_slow_is_known_after_a_few_utterances() -> None:
    found = MEASURED
    for _ in range(12):
        found = corrected(found, spent(40.0, 132.0))
    assert found.codes_ms == pytest.approx(40, rel=0.05)
    assert (found.call_ms, found.decode_ms) == pytest.approx((4, 16), rel=0.05)
    assert found.real_time == pytest.approx(0.8, rel=0.05)  # the prompt's share moves along


def test_one_frame_that_lost_its_core_says_nothing() -> None:
    odd = Spent((20.0,) * 39 + (900.0,), ((8, 66.0),) * 5)
    assert corrected(MEASURED, odd) == MEASURED


def test_every_utterance_moves_the_schedule_and_good_ones_what_is_kept() -> None:
    observed = Observed(MEASURED)
    for _ in range(WORTH_KEEPING):
        observed.add(spent(30.0, 66.0), BUSY)
    assert observed.now.codes_ms > 25
    assert observed.correction is None
    for _ in range(WORTH_KEEPING):
        observed.add(spent(24.0, 66.0), QUIET)
    kept = observed.correction
    assert kept is not None
    assert 22 < kept.codes_ms < 24
    assert kept.conditions == MeasuringConditions("Tuesday", 0.02, True, WORTH_KEEPING)
    assert observed.factor == pytest.approx(kept.codes_ms / 20)


def test_a_short_utterance_says_little() -> None:
    observed = Observed(MEASURED)
    observed.add(Spent((90.0,) * (LEAST_FRAMES - 1), ((1, 90.0),)), QUIET)
    observed.add(Spent((90.0,) * 40, ()), QUIET)
    assert observed.now == MEASURED
