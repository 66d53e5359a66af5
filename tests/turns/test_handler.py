"""The turns stage, message by message: what it sends, and what it forgets between turns."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import (
    Event,
    NothingHeard,
    Notice,
    SpeechDropped,
    SpeechStarted,
    SpeechStopped,
)
from s2s.core.messages import (
    AudioIn,
    PartialTranscript,
    Speech,
    SttInput,
    TakeUpDropped,
    TextEnding,
    TurnId,
)
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns, Verdict
from s2s.core.state import SessionState
from s2s.testing.simulator import EnergyVad
from s2s.turns.base import OwnVoice
from s2s.turns.config import TurnsConfig
from s2s.turns.grace import GraceConfig
from s2s.turns.handler import TurnsHandler
from tests.support.floor import NotedFloor

WINDOW_S = BLOCK_SAMPLES / PIPELINE_HZ
VOICE = np.full(BLOCK_SAMPLES, 0.2, dtype=np.float32)
SILENCE = np.zeros(BLOCK_SAMPLES, dtype=np.float32)


class Judge:
    """An end-of-turn model that is sure, and remembers what it was asked."""

    def __init__(self, probability: float) -> None:
        self.probability_of: Callable[[Block], float] = lambda _: probability
        self.asked: list[int] = []

    def probability(self, audio: Block) -> float:
        self.asked.append(len(audio))
        return self.probability_of(audio)


class Graces(SpeculativeTurns):
    """Remembers what was decided."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.set: list[tuple[TurnId, float]] = []

    def set_grace(
        self, turn: TurnId, until_s: float, *, provisional_from_s: float | None = None
    ) -> None:
        self.set.append((turn, round(until_s, 6)))
        super().set_grace(turn, until_s, provisional_from_s=provisional_from_s)


class Rig:
    """The stage between a microphone of constant levels and a list."""

    def __init__(
        self,
        *,
        complete: float = 0.99,
        config: TurnsConfig | None = None,
        own_voice: OwnVoice | None = None,
    ) -> None:
        self.clock = ManualClock()
        self.events: list[Event] = []
        self.floor = NotedFloor()
        self.judge = Judge(complete)
        self.state = SessionState(
            CancelScope(self.clock),
            Graces(self.clock),
            self.clock,
            Metrics(),
            self.events.append,
        )
        self.handler = TurnsHandler(
            EnergyVad(),
            self.judge,
            self.floor,
            self.state,
            config or TurnsConfig(),
            session_id="s",
            own_voice=own_voice,
        )
        self._sample = 0

    @property
    def sample(self) -> int:
        """Heard so far."""
        return self._sample

    def hear(self, block: Block, windows: int, *, attended: bool = True) -> list[SttInput]:
        sent: list[SttInput] = []
        for _ in range(windows):
            self._sample += BLOCK_SAMPLES
            self.clock.wait_until(self._sample / PIPELINE_HZ)
            window = AudioIn(block, self._sample, self.clock.now(), attended)
            sent += self.handler.process(window)
        return sent

    def read(
        self,
        speech: Speech,
        text: str,
        confidence: float | None = None,
        *,
        model: float | None = None,
    ) -> list[SttInput]:
        """The recogniser writes `speech` down, and the language model says what it makes of it."""
        sent = self.write_down(speech, text, confidence)
        return sent + self.judge_words(speech, text, model)

    def write_down(
        self, speech: Speech, text: str, confidence: float | None = None
    ) -> list[SttInput]:
        partial = PartialTranscript(text, text, speech.turn, len(speech.audio), confidence)
        return list(self.handler.process(partial))

    def judge_words(self, speech: Speech, text: str | None, model: float | None) -> list[SttInput]:
        return list(self.handler.process(TextEnding(speech.turn, text, model)))


def finals(sent: list[SttInput]) -> list[Speech]:
    return [each for each in sent if isinstance(each, Speech) and each.final]


def test_a_turn_is_sent_whole_at_its_provisional_end() -> None:
    rig = Rig()
    rig.hear(SILENCE, 20)
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 2))
    assert speech.turn.turn_revision == 0
    assert speech.speech_stopped_at_s == pytest.approx(50 * WINDOW_S)
    assert len(speech.audio) >= 30 * BLOCK_SAMPLES
    kinds = [type(event) for event in rig.events]
    assert kinds == [SpeechStarted, SpeechStopped]


def test_the_end_is_judged_once_at_the_first_window_of_silence() -> None:
    rig = Rig()
    rig.hear(VOICE, 30)
    assert rig.judge.asked == []
    rig.hear(SILENCE, 1)
    assert len(rig.judge.asked) == 1
    rig.hear(SILENCE, 5)
    assert len(rig.judge.asked) == 1


def test_speech_that_comes_back_is_the_next_revision_of_the_turn() -> None:
    rig = Rig(complete=0.01)
    (first,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 5))
    (second,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 5))
    assert second.turn.turn_id == first.turn.turn_id
    assert second.turn.turn_revision == 1
    assert len(second.audio) > len(first.audio)


def test_after_the_answer_has_begun_what_is_said_is_a_new_turn_that_knows_nothing_of_it() -> None:
    rig = Rig()
    (first,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 5))
    rig.read(first, "what time is it")
    rig.hear(SILENCE, 60)
    assert rig.state.turns.verdict(first.turn) is Verdict.LATEST
    assert rig.state.turns.commit(first.turn)
    (second,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 5))
    assert second.turn.turn_id != first.turn.turn_id
    assert second.turn.turn_revision == 0
    assert rig.read(first, "what time is it really") == []
    assert rig.state.turns.verdict(second.turn) is Verdict.PENDING


def test_words_that_cannot_be_the_last_hold_the_answer_back_for_longer() -> None:
    def waits(text: str) -> int:
        rig = Rig(complete=0.5)
        (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 2))
        rig.read(speech, text)
        windows = 0
        while rig.state.turns.verdict(speech.turn) is Verdict.PENDING:
            rig.hear(SILENCE, 1)
            windows += 1
        return windows

    assert waits("turn the lights on and") > waits("turn the lights on now please.")


def test_a_voice_detector_that_fails_is_told_and_listened_to_afresh() -> None:
    rig = Rig()
    rig.hear(VOICE, 30)
    assert list(rig.handler.failed(None, RuntimeError("not a number"))) == []
    assert isinstance(rig.events[-1], Notice)
    assert rig.handler.quiet
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 5))
    assert len(speech.audio) < 45 * BLOCK_SAMPLES, "what was heard before is forgotten"


def test_windows_that_stop_end_the_turn() -> None:
    rig = Rig()
    rig.hear(VOICE, 30)
    assert rig.handler.deadline_s() == pytest.approx(30 * WINDOW_S + 1.0)
    (speech,) = finals(list(rig.handler.expired()))
    assert len(speech.audio) == 30 * BLOCK_SAMPLES
    assert rig.handler.deadline_s() is None


def test_speech_over_an_answer_is_no_turn_until_its_words_have_content() -> None:
    rig = Rig()
    rig.floor.playing = True
    sent = rig.hear(SILENCE, 5) + rig.hear(VOICE, 12)
    assert finals(sent) == []
    assert rig.floor.done == ["duck"]
    (partial, *_) = [each for each in sent if isinstance(each, Speech)]
    assert rig.read(partial, "mm-hmm") == []
    assert "interrupt" not in rig.floor.done
    rig.read(partial, "what about the weather tomorrow")
    assert rig.floor.done[-1] == "interrupt"
    rig.floor.playing = False
    assert len(finals(rig.hear(VOICE, 10) + rig.hear(SILENCE, 5))) == 1


def empty(rig: Rig) -> list[str]:
    return [event.turn.turn_id for event in rig.events if isinstance(event, NothingHeard)]


def test_speech_without_words_is_told_of_once_when_the_wait_for_more_is_over() -> None:
    rig = Rig(complete=0.01)
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 2))
    rig.read(speech, "")
    while rig.state.turns.verdict(speech.turn) is Verdict.PENDING:
        assert empty(rig) == [], "the speaker may go on"
        rig.hear(SILENCE, 1)
    rig.hear(SILENCE, 10)
    assert empty(rig) == [speech.turn.turn_id]


def test_who_clears_their_throat_and_then_speaks_is_told_nothing() -> None:
    rig = Rig(complete=0.01)
    (throat,) = finals(rig.hear(VOICE, 13) + rig.hear(SILENCE, 2))
    rig.read(throat, "")
    (words,) = finals(rig.hear(SILENCE, 8) + rig.hear(VOICE, 30) + rig.hear(SILENCE, 2))
    assert words.turn.turn_id == throat.turn.turn_id
    rig.read(words, "what time is it")
    rig.hear(SILENCE, 200)
    assert empty(rig) == []


def test_what_was_not_written_down_yet_is_not_taken_for_nothing() -> None:
    rig = Rig()
    rig.hear(VOICE, 30)
    rig.hear(SILENCE, 150)
    assert empty(rig) == []


# --- only my voice ------------------------------------------------------------------------------

ANOTHER = np.full(BLOCK_SAMPLES, 0.1, dtype=np.float32)
"""Somebody else, as `ByLevel` tells them apart."""


class ByLevel:
    """A voice that is known by its level: that of `VOICE`."""

    def likeness(self, audio: Block) -> float:
        return float((audio[-BLOCK_SAMPLES:] > 0.15).mean())


def dropped(rig: Rig) -> list[SpeechDropped]:
    return [event for event in rig.events if isinstance(event, SpeechDropped)]


def test_the_enrolled_voice_is_answered_as_soon_as_without_one() -> None:
    def sent(own_voice: OwnVoice | None) -> list[tuple[int, bool, int]]:
        rig = Rig(own_voice=own_voice)
        found = []
        for window in range(80):
            for speech in rig.hear(VOICE if 20 <= window < 50 else SILENCE, 1):
                assert isinstance(speech, Speech)
                found.append((window, speech.final, len(speech.audio)))
        return found

    assert sent(ByLevel()) == sent(None)


def test_another_voice_is_dropped_told_and_never_answered() -> None:
    rig = Rig(own_voice=ByLevel())
    sent = rig.hear(SILENCE, 20) + rig.hear(ANOTHER, 60) + rig.hear(SILENCE, 30)
    assert finals(sent) == []
    (told,) = dropped(rig)
    assert told.reason == "not your voice"
    assert rig.state.turns.verdict(told.turn) is Verdict.STALE
    assert rig.handler.quiet


def test_a_short_word_of_another_is_dropped_at_its_end() -> None:
    rig = Rig(own_voice=ByLevel())
    sent = rig.hear(ANOTHER, 13) + rig.hear(SILENCE, 30)
    assert [rig.state.turns.verdict(speech.turn) for speech in finals(sent)] == [Verdict.STALE]
    assert len(dropped(rig)) == 1


def test_who_speaks_on_after_the_person_does_not_hold_the_turn_open() -> None:
    rig = Rig(own_voice=ByLevel())
    sent = rig.hear(VOICE, 50) + rig.hear(ANOTHER, 60)
    (speech,) = finals(sent)
    assert speech.speech_stopped_at_s == pytest.approx(50 * WINDOW_S, abs=0.55)
    assert not (speech.audio[60 * BLOCK_SAMPLES :] > 0).any(), "not what the other said"
    rig.read(speech, "what time is it?")
    rig.hear(ANOTHER, 30)
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST
    assert dropped(rig) == []


def test_the_person_is_heard_over_a_television_from_their_first_word() -> None:
    rig = Rig(own_voice=ByLevel())
    rig.hear(ANOTHER, 100)
    (speech,) = finals(rig.hear(VOICE, 40) + rig.hear(SILENCE, 5))
    assert (speech.audio > 0.15).sum() == 40 * BLOCK_SAMPLES


def test_what_was_dropped_is_taken_up_once() -> None:
    rig = Rig(own_voice=ByLevel())
    rig.hear(SILENCE, 20)
    rig.hear(ANOTHER, 60)
    rig.hear(SILENCE, 30)
    (speech,) = finals(list(rig.handler.process(TakeUpDropped())))
    assert (speech.audio > 0.05).sum() == 60 * BLOCK_SAMPLES
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST
    assert list(rig.handler.process(TakeUpDropped())) == []
    assert isinstance(rig.events[-1], Notice)


def test_words_that_were_hardly_understood_are_dropped() -> None:
    rig = Rig()
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 2))
    rig.read(speech, "You", confidence=-2.0)
    (told,) = dropped(rig)
    assert told.text == "You"
    assert rig.state.turns.verdict(speech.turn) is Verdict.STALE


def test_over_a_reply_another_voice_stops_nothing_and_the_person_does_at_once() -> None:
    rig = Rig(own_voice=ByLevel())
    rig.floor.playing = True
    sent = rig.hear(ANOTHER, 40)
    for speech in sent:
        assert isinstance(speech, Speech)
        rig.read(speech, "and now the weather for tomorrow")
    assert rig.floor.done[0] == "duck"
    assert not {"pause", "interrupt"} & set(rig.floor.done)
    mine = Rig(own_voice=ByLevel())
    mine.floor.playing = True
    mine.hear(VOICE, 32)
    assert mine.floor.done[-1] in ("pause", "interrupt")


def test_anybody_may_say_the_stop_phrase() -> None:
    rig = Rig(own_voice=ByLevel())
    rig.floor.playing = True
    speech = rig.hear(ANOTHER, 30)[-1]
    assert isinstance(speech, Speech)
    rig.read(speech, "stop")
    assert rig.floor.done[-1] == "interrupt"


# --- decisions at sample positions ---------------------------------------------------------------


def decisions(
    complete: float, text: str, model: float | None, late: tuple[int, int]
) -> list[float]:
    """When the turn ends, in seconds; the words come after so many windows, the language model's
    opinion after so many more."""
    config = TurnsConfig(grace=GraceConfig(ask_again_ms=(192, 416, 800)))
    rig = Rig(complete=complete, config=config)
    graces = rig.state.turns
    assert isinstance(graces, Graces)
    rig.judge.probability_of = lambda audio: complete if len(audio) % 3 else 1.0 - complete
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 2))
    rig.hear(SILENCE, late[0])
    rig.write_down(speech, text)
    rig.hear(SILENCE, late[1])
    rig.judge_words(speech, text, model)
    rig.hear(SILENCE, 80)
    return [until_s for _, until_s in graces.set if not math.isinf(until_s)]


@given(
    complete=st.floats(0.0, 1.0),
    text=st.sampled_from(
        ["turn the lights on and", "Turn the lights on.", "what is it for", "yes"]
    ),
    model=st.none() | st.floats(-8.0, 8.0),
    late=st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_what_is_decided_does_not_depend_on_when_the_evidence_comes(
    complete: float, text: str, model: float | None, late: tuple[int, int]
) -> None:
    (prompt,) = decisions(complete, text, model, (0, 0))
    (delayed,) = decisions(complete, text, model, late)
    longest_s = 30 * WINDOW_S + TurnsConfig().grace.incomplete_ms / 1000
    came_s = (32 + sum(late)) * WINDOW_S
    assert delayed == (prompt if came_s < longest_s - WINDOW_S else pytest.approx(longest_s))


def test_nothing_is_decided_before_words_and_language_model_were_heard() -> None:
    rig = Rig()
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 30))
    assert rig.state.turns.verdict(speech.turn) is Verdict.PENDING
    rig.write_down(speech, "What time is it?")
    assert rig.state.turns.verdict(speech.turn) is Verdict.PENDING
    rig.judge_words(speech, "What time", 3.0)  # read along before all was said
    assert rig.state.turns.verdict(speech.turn) is Verdict.PENDING
    rig.judge_words(speech, "What time is it?", 3.0)
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST


def test_a_turn_that_could_not_be_written_down_is_over_without_words() -> None:
    rig = Rig(complete=0.9999)
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 20))
    rig.judge_words(speech, None, None)
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST


def test_a_pause_that_is_not_decided_is_judged_again_while_it_lasts() -> None:
    again = (416, 640, 992)
    rig = Rig(complete=0.01, config=TurnsConfig(grace=GraceConfig(ask_again_ms=again)))
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 2))
    rig.read(speech, "turn the lights on", model=-2.0)
    rig.hear(SILENCE, 80)
    assert len(rig.judge.asked) == 1 + len(again)
    silences_ms = [1000 * (asked - 30 * BLOCK_SAMPLES) / PIPELINE_HZ for asked in rig.judge.asked]
    assert silences_ms == pytest.approx([64, *again], abs=32)


def test_windows_that_are_late_do_not_hold_a_decided_turn_back_for_long() -> None:
    rig = Rig(complete=0.99)
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 2))
    rig.read(speech, "What time is it?", model=4.0)
    deadline_s = rig.handler.deadline_s()
    assert deadline_s is not None
    assert deadline_s <= rig.clock.now() + 0.5
    rig.clock.wait_until(deadline_s)
    assert list(rig.handler.expired()) == []
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST
    assert rig.handler.deadline_s() is None
