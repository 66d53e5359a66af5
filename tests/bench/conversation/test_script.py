"""What the scripted person says: the same every time, over every other answer."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.conversation.script import LONG_ANSWER, hum, run, script
from s2s.core.audio import PIPELINE_HZ
from s2s.core.events import ResponseDone


def test_the_same_seed_is_the_same_person() -> None:
    one, other, another = (script(6, seed, hum) for seed in (1, 1, 2))
    assert [step.said.text for step in one] == [step.said.text for step in other]
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.said.audio, b.said.audio)
    assert any(len(a.said.audio) != len(b.said.audio) for a, b in zip(one, another, strict=True))


def test_every_other_answer_is_talked_over_after_a_wait() -> None:
    steps = script(8, 0, hum)
    kinds = [step.kind for step in steps]
    assert kinds.count("question") == 8
    assert kinds.count("backchannel") == kinds.count("interruption") == 2
    for step in steps:
        if step.kind != "question":
            assert step.said.after_quiet_s is None
            assert 2 * PIPELINE_HZ <= step.speech_start <= 4 * PIPELINE_HZ
            assert not step.said.audio[: step.speech_start].any()


@pytest.mark.parametrize("text", ["yes", "a much longer sentence than that one"])
def test_a_hum_is_as_long_as_its_text_takes(text: str) -> None:
    assert len(hum(text)) == int(max(0.4, len(text) / 14) * PIPELINE_HZ)


def test_answers_that_are_talked_over_are_long() -> None:
    simulation = run(script(2, 0, hum), None)
    played = [event.played for _, event in simulation.events if isinstance(event, ResponseDone)]
    assert len(played) == 2
    assert LONG_ANSWER.startswith(played[1].strip()[:40])
    assert not LONG_ANSWER.startswith(played[0].strip()[:40])
