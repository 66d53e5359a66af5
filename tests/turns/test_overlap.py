"""Speech over a reply: what the floor is told to do."""

from __future__ import annotations

import math

from s2s.core.audio import BLOCK_SAMPLES
from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import Event
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.turns.interruption import InterruptionConfig
from s2s.turns.overlap import Overlap
from tests.support.floor import NotedFloor

ECHO_DB, PERSON_DB = 4.0, 15.0


class Rig:
    """Speech that goes on, by how much it is louder than its echo."""

    def __init__(self, spoken: str = "") -> None:
        self.floor = NotedFloor(spoken, playing=True)
        events: list[Event] = []
        clock = ManualClock()
        state = SessionState(
            CancelScope(clock), SpeculativeTurns(clock), clock, Metrics(), events.append
        )
        self.overlap = Overlap(InterruptionConfig(), self.floor, state)
        self.sample = 0
        self._active = 0

    def speak(self, windows: int, over_echo_db: float) -> Rig:
        for _ in range(windows):
            self.overlap.beyond_echo(0.95, over_echo_db)
            self.sample += BLOCK_SAMPLES
            if not self._active:
                self.overlap.onset(self.sample, None)
            self._active += BLOCK_SAMPLES
            self.overlap.window(self.sample, self._active / 16, 0.95)
        return self

    def words(self, text: str) -> bool:
        return self.overlap.words(self.sample, text, stable=text)


def test_long_speech_without_words_stops_the_answer_only_when_no_echo_explains_it() -> None:
    assert Rig().speak(18, math.inf).floor.done[-1] == "pause"
    assert Rig().speak(18, PERSON_DB).floor.done[-1] == "pause"
    assert Rig().speak(18, ECHO_DB).floor.done == ["duck", "restore"]


def test_words_that_the_assistant_is_just_saying_do_not_count() -> None:
    rig = Rig("the museum opens at nine").speak(8, ECHO_DB)
    assert not rig.words("museum opens")
    assert "interrupt" not in rig.floor.done
    assert rig.speak(10, ECHO_DB).floor.done[-1] == "restore"


def test_more_beside_them_counts() -> None:
    rig = Rig("the museum opens at nine").speak(8, ECHO_DB)
    assert rig.words("museum opens what about Sunday")
    assert "interrupt" in rig.floor.done


def test_an_order_to_stop_counts_beside_them_and_when_it_is_said_itself() -> None:
    rig = Rig("you may stop at nine").speak(8, ECHO_DB)
    rig.words("stop")
    assert "interrupt" in rig.floor.done
    rig = Rig("opens at nine").speak(8, ECHO_DB)
    rig.words("at nine stop")
    assert "interrupt" in rig.floor.done


def test_who_is_louder_than_any_echo_may_say_the_same_words() -> None:
    rig = Rig("the museum opens at nine").speak(8, PERSON_DB)
    assert rig.words("museum nine")


def test_its_own_words_are_told_once() -> None:
    rig = Rig("the museum opens at nine").speak(8, PERSON_DB)
    assert not rig.words("museum opens at")
    assert not rig.words("museum opens at nine")
    assert rig.floor.done.count("own voice") == 1
