"""The open turn: what is known of its words, and who ends its pauses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import Event, NothingHeard
from s2s.core.messages import TextEnding, TurnId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns, Verdict
from s2s.core.state import SessionState
from s2s.turns.grace import GraceConfig
from s2s.turns.open_turn import WINDOW_LATE_S, OpenTurn, TurnEnds

TURN = TurnId("t", 0)
CONFIG = GraceConfig()
END = PIPELINE_HZ  # its speech ends after a second
SENTENCE = "It is late."


class Heard:
    """A segmenter as far as it is asked: where the session stands."""

    def __init__(self) -> None:
        self.sample = END
        self.paused = True
        self.speaking = False

    def audio(self) -> Block:
        return np.ones(self.sample, np.float32)


class Judge:
    def __init__(self, probability: float) -> None:
        self.value = probability
        self.asked: list[int] = []

    def probability(self, audio: Block) -> float:
        self.asked.append(len(audio))
        return self.value


class Rig:
    """The decisions about one turn that has paused, told window by window."""

    def __init__(
        self, probability: float | None = 0.99, *, early: GraceConfig | None = None
    ) -> None:
        self.clock = ManualClock()
        self.turns = SpeculativeTurns(self.clock)
        self.turns.observe(TURN)
        self.events: list[Event] = []
        state = SessionState(
            CancelScope(self.clock), self.turns, self.clock, Metrics(), self.events.append
        )
        self.heard = Heard()
        self.judge = None if probability is None else Judge(probability)
        self.decides = True
        self.ends = TurnEnds(
            self.judge,
            self.heard,  # type: ignore[arg-type]
            state,
            CONFIG,
            "en",
            lambda sample: sample / PIPELINE_HZ,
            lambda: (early or CONFIG, CONFIG) if self.decides else None,
        )
        self.turn = OpenTurn(TURN)
        self.ends.judge(self.turn)
        self.pause = self.ends.pause(self.turn, END)
        self.ends.judged(self.turn, self.pause, early=False)

    def read(self, text: str = SENTENCE, model: float | None = 2.0) -> None:
        """Its words are all there, and the language model has judged them."""
        self.turn.text = text
        self.ends.take(self.turn, TextEnding(TURN, text or None, model))

    def silence(self, until_ms: float) -> None:
        """Windows of silence, each in its time, until so much of it was heard."""
        while 1000 * (self.heard.sample - END) / PIPELINE_HZ < until_ms:
            self.heard.sample += BLOCK_SAMPLES
            self.clock.wait_until(self.heard.sample / PIPELINE_HZ)
            self.ends.window(self.turn)


def test_a_complete_turn_ends_after_the_short_wait() -> None:
    rig = Rig()
    rig.read()
    wait_ms = rig.pause.expected_ms()
    assert wait_ms < CONFIG.silence_ms
    rig.silence(wait_ms)
    assert rig.pause.over
    rig.clock.wait_until(END / PIPELINE_HZ + wait_ms / 1000)
    assert rig.turns.verdict(TURN) is Verdict.LATEST


def test_a_doubtful_turn_ends_after_the_long_one() -> None:
    rig = Rig(0.001)
    rig.read("I would like to", -3.0)
    rig.silence(CONFIG.incomplete_ms - 100)
    assert not rig.pause.over
    rig.silence(CONFIG.incomplete_ms)
    assert rig.pause.over


def test_words_that_come_late_end_it_at_the_window_after_them() -> None:
    rig = Rig()
    rig.turn.sent_samples, rig.pause.text = 800, None
    rig.silence(1000)
    assert not rig.pause.over
    rig.turn.read_samples = 800
    rig.read()
    assert rig.pause.over


def test_words_of_another_turn_are_none_of_its() -> None:
    rig = Rig()
    rig.ends.take(rig.turn, TextEnding(TurnId("other", 0), SENTENCE, 2.0))
    assert rig.turn.ending is None
    rig.ends.take(None, TextEnding(TURN, SENTENCE, 2.0))


def test_nothing_is_decided_while_that_is_not_done_here() -> None:
    rig = Rig()
    rig.decides = False
    rig.read()
    rig.silence(3000)
    assert not rig.pause.over
    assert rig.ends.deadline_s(rig.turn) is None


def test_speech_that_comes_back_forgets_the_pause() -> None:
    rig = Rig()
    rig.read()
    rig.turn.goes_on()
    rig.silence(3000)
    assert rig.turn.pause is None
    assert rig.turns.verdict(TURN) is Verdict.PENDING


def test_an_answer_may_begin_before_the_turn_is_over() -> None:
    early = GraceConfig(bias=9.0)
    rig = Rig(0.2, early=early)
    rig.read("I would like", -1.0)
    rig.silence(CONFIG.silence_ms)
    assert rig.pause.begins_ms is not None
    assert not rig.pause.over
    rig.clock.wait_until(END / PIPELINE_HZ + rig.pause.begins_ms / 1000)
    assert rig.turns.begin_provisionally(TURN)


def test_without_windows_time_decides() -> None:
    rig = Rig()
    rig.read()
    deadline_s = rig.ends.deadline_s(rig.turn)
    assert deadline_s is not None
    assert deadline_s >= END / PIPELINE_HZ + CONFIG.complete_ms / 1000
    rig.clock.wait_until(deadline_s)
    rig.ends.expired(rig.turn)
    assert rig.pause.over
    assert rig.ends.deadline_s(rig.turn) is None


def test_a_window_that_came_lately_is_followed_by_another() -> None:
    rig = Rig()
    rig.read()
    rig.clock.wait_until(30.0)
    rig.decides = False
    rig.ends.window(rig.turn)
    rig.decides = True
    assert rig.ends.deadline_s(rig.turn) == pytest.approx(30.0 + WINDOW_LATE_S)


def test_the_model_hears_a_window_of_silence_ahead_while_speech_ends() -> None:
    rig = Rig()
    assert rig.judge is not None
    rig.heard.speaking = True
    rig.ends.judge(rig.turn)
    assert rig.judge.asked == [END, END + BLOCK_SAMPLES]
    assert rig.turn.judged_sample == END


def test_without_a_model_the_words_decide() -> None:
    rig = Rig(None)
    assert rig.turn.sound is None
    rig.read(SENTENCE, None)
    rig.silence(CONFIG.incomplete_ms)
    assert rig.pause.over
    assert not math.isinf(rig.pause.expected_ms())


def test_a_turn_without_words_is_told_once_at_the_end_of_its_grace() -> None:
    rig = Rig()
    rig.ends.tell_if_empty(rig.turn)
    assert rig.events == []  # it may go on
    rig.read("")
    rig.silence(3000)
    rig.clock.wait_until(rig.clock.now() + 3.0)
    for _ in range(2):
        rig.ends.tell_if_empty(rig.turn)
    assert rig.events == [NothingHeard(TURN)]


def test_a_turn_that_is_still_being_read_is_not_empty() -> None:
    rig = Rig()
    rig.turns.set_grace(TURN, 0.0)
    rig.turn.sent_samples = 800
    rig.ends.tell_if_empty(rig.turn)
    assert rig.events == []
    assert not rig.turn.all_read
