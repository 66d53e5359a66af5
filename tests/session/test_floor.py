"""The assistant as the turns stage sees it: being quiet, and in which order work is made stale."""

from __future__ import annotations

from types import SimpleNamespace

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import AnswerText
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.session.floor import AssistantFloor
from s2s.session.recent_speech import RecentSpeech
from s2s.transport.playback import Playback, PlaybackMode

TURN = TurnId("t", 0)


class Rig:
    """A floor whose sender notes what it is told, and how stale all was by then."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.state = SessionState(
            CancelScope(self.clock),
            SpeculativeTurns(self.clock),
            self.clock,
            Metrics(),
            lambda event: None,
        )
        self.state.turns.observe(TURN)
        self.playback = Playback(self.clock, 24_000)
        self.told: list[object] = []
        self.recent = RecentSpeech()
        sender = SimpleNamespace(
            interrupt=lambda: self.told.append(("interrupt", self.state.scope.generation)),
            take_back=lambda: self.told.append("take back"),
            give_up=lambda turn, error: self.told.append(
                (turn, error, self.state.scope.generation)
            ),
        )
        transport = SimpleNamespace(
            playback=self.playback,
            half_duplex=True,
            can_take_back=False,
            own_voice_heard=lambda: self.told.append("own voice"),
        )
        self.floor = AssistantFloor(
            transport,
            sender,
            self.recent,
            self.state,
            self.told.append,  # type: ignore
        )


def test_playback_is_made_quieter_and_silent_and_as_it_was() -> None:
    rig = Rig()
    for act, mode in (
        (rig.floor.duck, PlaybackMode.DUCKED),
        (rig.floor.pause, PlaybackMode.PAUSED),
        (rig.floor.restore, PlaybackMode.NORMAL),
    ):
        act()
        assert rig.playback.output is mode


def test_an_interruption_makes_all_stale_before_it_is_silenced() -> None:
    rig = Rig()
    rig.floor.interrupt()
    assert rig.told == [("interrupt", 1)]
    assert rig.state.is_stale(ResponseId("t", 0, 0, "a"))


def test_a_provisional_answer_that_is_interrupted_was_given() -> None:
    rig = Rig()
    rig.state.turns.set_grace(TURN, 9.0, provisional_from_s=0.0)
    assert rig.state.turns.begin_provisionally(TURN)
    rig.floor.interrupt()
    assert rig.state.turns.is_committed("t")


def test_an_answer_that_is_given_up_fails_after_all_is_stale() -> None:
    rig = Rig()
    rig.floor.give_up(TURN, "too slow")
    assert rig.told == [(TURN, "too slow", 1)]


def test_the_rest_is_passed_on() -> None:
    rig = Rig()
    rig.floor.take_back()
    rig.floor.own_voice_heard()
    rig.floor.forget(TURN)
    assert rig.told == ["take back", "own voice", TURN]
    assert (rig.floor.half_duplex, rig.floor.can_take_back, rig.floor.playing) == (
        True, False, False,
    )  # fmt: skip


def test_its_own_words_are_known_once_it_said_them() -> None:
    rig, words = Rig(), "the weather tomorrow will be fine"
    assert not rig.floor.is_own_voice(words)
    assert not rig.floor.asks
    said = "I think the weather tomorrow will be fine and warm. Shall I look again?"
    rig.recent.on_event(AnswerText(ResponseId("t", 0, 0, "a"), said))
    assert rig.floor.is_own_voice(words)
    assert rig.floor.asks
    assert rig.floor.other_words(f"{words} really") != f"{words} really"
