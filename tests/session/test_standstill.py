"""An answer that is owed and on which nothing moves is found, once; rest is no standstill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from s2s.core.clock import ManualClock
from s2s.core.events import SpeechStopped
from s2s.core.handler import Stage
from s2s.core.messages import TurnId
from s2s.session.standstill import Standstill
from s2s.transport.playback import Playback

TURN = TurnId("t", 0)


@dataclass
class FakeStage:
    """As much of a stage as is looked at."""

    name: str
    idle: bool = True
    sent: int = 0


def looked(standstill: Standstill, at_s: float, *stages: FakeStage, listening: bool = True) -> str:
    playback = Playback(ManualClock(), 24_000)
    found = standstill.look(at_s, cast(list[Stage], list(stages)), playback, listening=listening)
    return found or ""


def test_a_stage_that_is_stuck_is_named_once() -> None:
    standstill = Standstill(30.0)
    standstill.on_event(SpeechStopped(TURN, 0.0))
    llm = FakeStage("llm", idle=False)
    assert not looked(standstill, 0.0, FakeStage("stt"), llm)
    assert not looked(standstill, 29.0, FakeStage("stt"), llm)
    assert looked(standstill, 31.0, FakeStage("stt"), llm) == "nothing came from llm for 30 s"
    assert not looked(standstill, 32.0, FakeStage("stt"), llm)
    assert standstill.take_asked() == TURN
    assert standstill.take_asked() is None


def test_who_hears_sound_or_waits_for_the_stuck_one_is_not_named() -> None:
    standstill = Standstill(30.0)
    standstill.on_event(SpeechStopped(TURN, 0.0))
    stages = [FakeStage("turns", idle=False), FakeStage("stt"), FakeStage("llm", idle=False),
              FakeStage("tts")]  # fmt: skip
    assert not looked(standstill, 0.0, *stages)
    assert looked(standstill, 31.0, *stages) == "nothing came from llm for 30 s"


def test_what_moves_is_not_stuck() -> None:
    standstill = Standstill(30.0)
    standstill.on_event(SpeechStopped(TURN, 0.0))
    for second in range(0, 200, 10):
        assert not looked(standstill, float(second), FakeStage("llm", idle=False, sent=second))


def test_nothing_is_owed_before_anything_was_asked_or_while_the_person_speaks() -> None:
    standstill = Standstill(30.0)
    stuck = FakeStage("llm", idle=False)
    for second in (0.0, 100.0):
        assert not looked(standstill, second, stuck)
    standstill.on_event(SpeechStopped(TURN, 100.0))
    for second in (101.0, 200.0):
        assert not looked(standstill, second, stuck, listening=False)
