"""Turns that are ended, dropped and counted from outside, window by window."""

from __future__ import annotations

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import Event
from s2s.core.messages import AudioIn, Speech, SttInput, TurnId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns, Verdict
from s2s.core.state import SessionState
from s2s.testing.simulator import EnergyVad
from s2s.turns.config import TurnsConfig
from s2s.turns.steered import SteeredTurns
from tests.support.floor import NotedFloor

VOICE = np.full(BLOCK_SAMPLES, 0.2, dtype=np.float32)
SILENCE = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
A_SECOND = 32
"""Windows."""


class Rig:
    """The stage behind a microphone of constant levels, with no model that judges turn ends."""

    def __init__(self, *, playing: bool = False) -> None:
        self.clock = ManualClock()
        self.events: list[Event] = []
        self.turns = SpeculativeTurns(self.clock)
        self.floor = NotedFloor(playing=playing)
        state = SessionState(
            CancelScope(self.clock), self.turns, self.clock, Metrics(), self.events.append
        )
        self.handler = SteeredTurns(
            EnergyVad(), None, self.floor, state, TurnsConfig(), session_id="s"
        )
        self.sample = 0

    def hear(self, block: Block, windows: int) -> list[SttInput]:
        sent: list[SttInput] = []
        for _ in range(windows):
            self.sample += BLOCK_SAMPLES
            self.clock.wait_until(self.sample / PIPELINE_HZ)
            sent += self.handler.process(AudioIn(block, self.sample, self.clock.now()))
        return sent


def finals(sent: list[SttInput]) -> list[Speech]:
    return [each for each in sent if isinstance(each, Speech) and each.final]


def test_who_is_silent_has_no_turn_and_the_next_one_has_a_name() -> None:
    rig = Rig()
    rig.hear(SILENCE, A_SECOND)
    assert rig.handler.turn is None
    assert not rig.handler.speaking
    assert not rig.handler.over_reply
    assert (rig.handler.count, rig.handler.coming()) == (0, "s-1")


def test_a_turn_that_is_open_is_the_one_that_was_coming() -> None:
    rig = Rig()
    rig.hear(SILENCE, A_SECOND)
    onset = rig.sample
    rig.hear(VOICE, A_SECOND)
    assert rig.handler.turn == TurnId("s-1", 0)
    assert rig.handler.speaking
    assert rig.handler.coming() == "s-1"
    assert rig.handler.count == 1
    pre_roll = TurnsConfig().segmenter.pre_roll_ms * PIPELINE_HZ // 1000
    assert onset - pre_roll - BLOCK_SAMPLES <= rig.handler.start_sample <= onset


def test_a_turn_that_is_ended_is_sent_whole_and_may_be_answered_at_once() -> None:
    rig = Rig()
    rig.hear(VOICE, A_SECOND)
    assert finals(rig.hear(VOICE, 1)) == []
    (speech,) = finals(list(rig.handler.end_turn()))
    assert speech.turn == TurnId("s-1", 0)
    assert len(speech.audio) == (A_SECOND + 1) * BLOCK_SAMPLES
    assert rig.turns.verdict(speech.turn) is Verdict.LATEST
    assert finals(list(rig.handler.end_turn())) == []


def test_ending_what_nobody_says_ends_nothing() -> None:
    rig = Rig()
    rig.hear(SILENCE, 3)
    assert list(rig.handler.end_turn()) == []
    assert rig.handler.turn is None
    assert rig.handler.count == 0


def test_a_turn_that_is_dropped_is_never_sent_and_its_name_not_used_again() -> None:
    rig = Rig()
    rig.hear(VOICE, A_SECOND)
    rig.handler.drop_turn()
    assert rig.handler.turn is None
    assert not rig.handler.speaking
    assert finals(rig.hear(SILENCE, 3 * A_SECOND)) == []
    rig.hear(VOICE, A_SECOND)
    assert rig.handler.turn == TurnId("s-2", 0)


def test_a_turn_of_its_own_leaves_what_is_being_said_alone() -> None:
    rig = Rig()
    assert rig.handler.next_turn() == TurnId("s-1", 0)
    assert rig.handler.next_turn() == TurnId("s-2", 0)
    rig.hear(VOICE, A_SECOND)
    assert rig.handler.coming() == "s-3"


def test_counting_goes_on_where_an_earlier_one_stopped() -> None:
    rig = Rig()
    rig.handler.count = 41
    assert rig.handler.coming() == "s-42"
    rig.hear(VOICE, A_SECOND)
    assert rig.handler.turn == TurnId("s-42", 0)
    assert rig.handler.count == 42


def test_speech_over_an_answer_is_no_turn_until_it_is_judged() -> None:
    rig = Rig(playing=True)
    rig.hear(VOICE, 4)
    assert rig.handler.over_reply
    assert "interrupt" not in rig.floor.done
    rig.handler.drop_turn()
    assert not rig.handler.over_reply
