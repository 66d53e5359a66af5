"""How fast each stage is: on models whose cost is known, by a clock that stands still otherwise."""

from __future__ import annotations

import pytest

from s2s.app.doctor.speeds import StageSpeeds
from s2s.core.clock import ManualClock
from s2s.session.models import Models
from s2s.testing.simulator import (
    EnergyVad,
    ModelCosts,
    Said,
    ScriptedChat,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    ScriptWords,
    tone,
)


def test_each_stage_is_timed_by_itself() -> None:
    clock = ManualClock()
    costs = ModelCosts(first_token_s=0.3, token_s=0.02)
    words = ScriptWords([Said(tone(2.0), "hello there")])
    models = Models(
        EnergyVad(),
        None,
        ScriptedTranscriber(words, clock, 0.5),
        ScriptedChat(clock, costs, lambda _: "word " * 100),
        ScriptedSynthesizer(clock, costs),
    )
    found = list(StageSpeeds(models, tone(2.0), clock.now).findings())
    assert [each.values["stage"] for each in found] == ["vad", "stt", "llm", "tts"]
    assert {each.area for each in found} == {"speed"}
    vad, stt, llm, tts = (each.values for each in found)
    assert vad["window_ms"] == 0.0
    assert stt["seconds"] == pytest.approx(0.5)
    assert stt["real_time_factor"] == pytest.approx(0.25)
    assert llm["first_ms"] == pytest.approx(300.0)
    assert llm["pieces_a_second"] == pytest.approx(50.0)
    assert isinstance(tts["first_ms"], float)
    assert isinstance(tts["real_time_factor"], float)
    assert 0.0 < tts["real_time_factor"] < 2.0
    assert "stt: 0.50 s for 2.0 s of speech" in found[1].what
