"""The figures of a conversation, read off its recording and its events."""

from __future__ import annotations

import pytest

from s2s.bench.conversation.figures import figures
from s2s.bench.conversation.script import Step, hum, run, script
from s2s.core.audio import PIPELINE_HZ
from s2s.testing.simulator import Said


def test_a_conversation_without_faults() -> None:
    steps = script(4, 3, hum)
    found = figures(steps, run(steps, None), 1.5)
    assert (found.turns, found.answered, found.missed_turns) == (4, 4, 0)
    assert (found.backchannels, found.interruptions) == (1, 1)
    assert (found.resumed_rate, found.cancelled_rate) == (1.0, 1.0)
    assert found.unheard_words_in_history == 0
    assert found.wall_s == 1.5
    assert 100 < found.latency_p50_ms <= found.latency_p95_ms < 3000
    assert 0 < found.stop_p50_ms < 2000


def test_a_turn_that_is_not_answered_is_missed() -> None:
    """The second question is asked so softly that nobody hears it."""
    steps = [Step("question", Said(hum("what is it"), "what is it", 0.8), 0)]
    soft = Said(hum("and that") * 0.01, "and that", 0.8)  # type: ignore[arg-type]
    simulation = run([*steps, Step("question", soft, 0)], None)
    found = figures([*steps, Step("question", soft, 0)], simulation, 0.0)
    assert (found.turns, found.missed_turns) == (2, 1)


def test_nothing_talked_over_is_no_failure() -> None:
    steps = script(1, 0, hum)
    found = figures(steps, run(steps, None), 0.0)
    assert (found.resumed_rate, found.cancelled_rate, found.stop_p50_ms) == (1.0, 1.0, 0.0)
    assert found.simulated_s == pytest.approx(len(steps[0].said.audio) / PIPELINE_HZ, abs=12)
