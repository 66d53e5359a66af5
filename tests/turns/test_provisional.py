"""When an answer may begin before it is certain, and who silences it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.clock import ManualClock
from s2s.core.events import Event, Interruption
from s2s.core.messages import TurnId
from s2s.core.speculation import SpeculativeTurns
from s2s.turns.endpoint import to_log_odds
from s2s.turns.grace import EAGERNESS, EndEvidence, GraceConfig, grace_ms
from s2s.turns.provisional import ProvisionalConfig, TakingBack
from s2s.turns.unfinished import log_odds
from tests.support.floor import NotedFloor

TURN = TurnId("t", 0)


def after_ms(probability: float, text: str, config: ProvisionalConfig) -> tuple[int, int]:
    grace = GraceConfig()
    evidence = EndEvidence(to_log_odds(probability), log_odds(text) if text else None)
    speak, commit = (grace_ms(evidence, each) for each in (config.of(grace), grace))
    return speak, commit


@given(
    st.floats(0.0, 1.0),
    st.sampled_from(["", "what time is it", "and then the", "yes"]),
    st.floats(0.0, 6.0),
)
def test_an_answer_never_begins_after_it_is_certain(
    probability: float, text: str, lead: float
) -> None:
    speak_ms, commit_ms = after_ms(probability, text, ProvisionalConfig(enabled=True, lead=lead))
    assert GraceConfig().complete_ms <= speak_ms <= commit_ms


@given(st.floats(0.0, 1.0))
def test_without_it_both_are_one(probability: float) -> None:
    speak_ms, commit_ms = after_ms(probability, "what time is it", ProvisionalConfig(enabled=False))
    assert speak_ms == commit_ms


def test_where_the_evidence_is_undecided_it_begins_earlier_and_where_it_is_clear_not() -> None:
    config = ProvisionalConfig(enabled=True, lead=2.0)
    speak_ms, commit_ms = after_ms(0.75, "", config)
    assert speak_ms < commit_ms - 500
    speak_ms, commit_ms = after_ms(0.001, "", config)
    assert speak_ms == commit_ms


def test_a_negative_lead_is_refused() -> None:
    with pytest.raises(ValueError, match="lead"):
        ProvisionalConfig(lead=-1.0)


def test_each_manner_has_a_lead_to_use() -> None:
    assert all(grace.incomplete_ms > grace.complete_ms for grace in EAGERNESS.values())


class Rig:
    """A turn whose answer began provisionally, if `begun`, to be certain after a second."""

    def __init__(self, *, begun: bool = True) -> None:
        self.clock = ManualClock()
        self.turns = SpeculativeTurns(self.clock)
        self.floor = NotedFloor()
        self.events: list[Event] = []
        self.taking_back = TakingBack(self.floor, self.turns, self.events.append)
        self.turns.observe(TURN)
        self.turns.set_grace(TURN, 1.0, provisional_from_s=0.0)
        if begun:
            assert self.turns.begin_provisionally(TURN)

    @property
    def told(self) -> list[str]:
        return [event.action for event in self.events if isinstance(event, Interruption)]


def test_the_first_sign_of_a_voice_silences_it_and_nothing_lets_it_go_on() -> None:
    rig = Rig()
    assert rig.taking_back.onset(TURN, 512)
    assert rig.taking_back.silenced
    rig.taking_back.false_start(TURN, 1024)
    assert not rig.taking_back.silenced
    assert rig.floor.done == ["pause", "restore"]
    assert rig.told == ["silence", "restore"]


def test_the_second_time_it_waits_until_it_is_certain() -> None:
    rig = Rig()
    for _ in range(2):
        rig.taking_back.onset(TURN, 512)
        rig.taking_back.false_start(TURN, 1024)
    assert rig.taking_back.silenced
    assert rig.floor.done == ["pause", "restore", "pause"]
    rig.taking_back.over(2048)
    assert not rig.taking_back.silenced
    assert rig.floor.done[3:] == ["restore"]


def test_a_voice_that_goes_on_takes_it_back() -> None:
    rig = Rig()
    rig.taking_back.onset(TURN, 512)
    rig.taking_back.gone_on()
    assert rig.floor.done == ["pause", "take back", "restore"]
    assert not rig.taking_back.silenced


def test_nothing_is_done_to_an_answer_that_did_not_begin_so() -> None:
    rig = Rig(begun=False)
    assert not rig.taking_back.onset(TURN, 512)
    rig.taking_back.false_start(TURN, 1024)
    rig.taking_back.gone_on()
    rig.taking_back.over(2048)
    assert rig.floor.done == []
    assert rig.told == []
