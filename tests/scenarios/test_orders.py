"""Conversations with keys, a wake word and a stop phrase."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.clock import Clock
from s2s.core.events import Interruption, MicrophoneState, StopHeard
from s2s.core.messages import AudioIn
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.session.session import Session
from s2s.testing.simulator import Said, Simulation, tone
from s2s.transport.playback import Playback
from s2s.transport.wav import Script, WavTransport
from s2s.turns.config import TurnsConfig
from s2s.turns.orders.input_gate import InputConfig
from tests.scenarios.conversations import (
    QUESTION,
    QUESTION_ENDS_S,
    audible_s,
    done,
    heard,
    long_answer,
    prompts,
    said_after,
    started_s,
    statuses,
)

Press = tuple[float, Callable[[Session], None]]


class PressedKeys(WavTransport):
    """A room in which keys are pressed at given times."""

    def __init__(
        self, script: Script, playback: Playback, clock: Clock, presses: Callable[[], list[Press]]
    ) -> None:
        super().__init__(script, playback, clock)
        self._presses = presses
        self.session: Session | None = None

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        presses = self._presses()

        def listen(window: AudioIn) -> None:
            while presses and presses[0][0] <= window.captured_at_s and self.session is not None:
                presses.pop(0)[1](self.session)
            heard(window)

        super().run(listen, tick)


def held(said: Sequence[Said], presses: list[Press], config: InputConfig) -> Simulation:
    """A conversation with these keys."""
    simulation = Simulation(
        said,
        config=SessionConfig(turns=TurnsConfig(input=config)),
        answer=long_answer,
    )

    def room(script: Script, playback: Playback, clock: Clock) -> WavTransport:
        def timed() -> list[Press]:
            transport.session = simulation.session
            return list(presses)

        transport = PressedKeys(script, playback, clock, timed)
        return transport

    simulation.room = room
    return simulation.run()


def states(simulation: Simulation) -> list[str]:
    return [e.state for _, e in simulation.events if isinstance(e, MicrophoneState)]


def down(session: Session) -> None:
    session.talk(True)


def up(session: Session) -> None:
    session.talk(False)


TALK = InputConfig(push_to_talk=True)


def test_push_to_talk_hears_nothing_while_the_key_is_up() -> None:
    simulation = held([QUESTION], [], TALK)
    assert heard(simulation) == []
    assert states(simulation) == ["waiting"]


def test_push_to_talk_answers_at_once_when_the_key_goes_up() -> None:
    unfinished = Said(tone(1.5), "what time is")
    kept = held([unfinished], [(0.3, down), (2.2, up)], TALK)
    assert heard(kept) == ["what time is"]
    assert started_s(kept) - 2.2 < 0.5
    assert states(kept) == ["waiting", "talking", "waiting"]


def test_push_to_talk_waits_through_any_pause_while_the_key_is_down() -> None:
    said = [QUESTION, said_after(4.0, "and in boston", 1.0)]
    simulation = held(said, [(0.3, down), (8.0, up)], TALK)
    assert heard(simulation) == ["what time is it now and in boston"]
    assert started_s(simulation) >= 8.0


def test_the_talk_key_silences_the_assistant() -> None:
    simulation = held([QUESTION], [(0.3, down), (2.2, up), (4.0, down), (5.0, up)], TALK)
    assert statuses(simulation) == ["cancelled"]
    assert max(audible_s(simulation)) < 4.1


def test_muted_nothing_is_answered_and_the_answer_goes_on() -> None:
    over = said_after(2.0, "what about the weather", 1.5)
    mutes: list[Press] = [(3.0, lambda session: session.mute(True))]
    simulation = held([QUESTION, over], mutes, InputConfig())
    assert statuses(simulation) == ["completed"]
    assert heard(simulation) == ["what time is it now"]
    assert states(simulation) == ["muted"]


def test_unmuted_it_hears_again() -> None:
    said = [QUESTION, said_after(1.0, "how are you today", 1.5)]
    simulation = held(said, [(2.4, lambda session: session.mute(False))], InputConfig(muted=True))
    assert heard(simulation) == ["how are you today"]
    assert states(simulation) == ["muted", "open"]


# --- the wake word --------------------------------------------------------------------------------


@dataclass
class Rings:
    """A wake word is a tone of this height; it is recognised 100 ms after it is over."""

    hz: float
    phrase: str = "Okay Nabu"

    def open(self) -> Rings:
        return replace(self)

    def __post_init__(self) -> None:
        self._last = -1
        self._sample = 0

    def heard(self, block: Block) -> int | None:
        self._sample += len(block)
        spectrum = np.abs(np.fft.rfft(block))
        if spectrum.max() > 1 and abs(int(spectrum.argmax()) * PIPELINE_HZ / 512 - self.hz) < 40:
            self._last = self._sample
        late = 3 * BLOCK_SAMPLES
        if self._last < 0 or self._sample - self._last < late:
            return None
        self._last = -1
        return late


WORD = Said(0.4 * np.sin(2 * np.pi * 1500 * np.arange(12_800) / PIPELINE_HZ).astype(np.float32), "")


def awaited(*said: Said, follow_up_s: float = 3.0) -> Simulation:
    def models(scripted: Models, _clock: Clock) -> Models:
        return replace(scripted, wake_word=Rings(1500.0))

    config = SessionConfig(turns=TurnsConfig(input=InputConfig(follow_up_s=follow_up_s)))
    return Simulation(list(said), config=config, models=models).run()


def test_nothing_is_answered_before_the_wake_word() -> None:
    simulation = awaited(QUESTION)
    assert heard(simulation) == []
    assert states(simulation) == ["asleep"]


def test_a_question_in_the_same_breath_is_answered() -> None:
    both = Said(np.concatenate([WORD.audio, QUESTION.audio]), QUESTION.text)
    simulation = awaited(both)
    assert len(done(simulation)) == 1
    assert states(simulation)[:2] == ["asleep", "awake"]
    assert len(prompts(simulation)) == 2


def test_one_talks_on_without_it_and_needs_it_again_after_a_while() -> None:
    again = replace(QUESTION, audio=tone(1.5, 220.0), text="and in boston", after_quiet_s=1.0)
    late = replace(QUESTION, audio=tone(1.5, 240.0), text="and in rome", after_quiet_s=5.0)
    simulation = awaited(WORD, replace(QUESTION, after_quiet_s=0.3), again, late)
    assert heard(simulation) == ["what time is it now", "and in boston"]
    assert states(simulation) == ["asleep", "awake", "asleep"]


def test_the_wake_word_over_an_answer_stops_it() -> None:
    over = Said(np.concatenate([np.zeros(32_000, np.float32), WORD.audio]), "", None)
    simulation = awaited(WORD, replace(QUESTION, after_quiet_s=0.3), over)
    assert statuses(simulation) == ["cancelled"]


# --- the stop phrase ------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["stop", "be quiet", "stopp", "arrête"])
def test_the_stop_phrase_ends_an_answer_and_is_no_turn(word: str) -> None:
    stop = said_after(3.0, word, 0.4)
    simulation = Simulation([QUESTION, stop], answer=long_answer).run()
    assert statuses(simulation) == ["cancelled"]
    cancels = [e for _, e in simulation.events if isinstance(e, Interruption)]
    assert cancels[-1].reason == "stop word"
    assert max(audible_s(simulation)) - QUESTION_ENDS_S - 3.0 < 0.6
    assert [role for role, _ in prompts(simulation)] == ["user", "assistant"]


def test_with_nothing_to_stop_it_gets_no_answer_and_is_forgotten() -> None:
    stop, question = Said(tone(0.5, 230.0), "stop"), replace(QUESTION, after_quiet_s=2.0)
    simulation = Simulation([stop, question]).run()
    assert heard(simulation) == ["what time is it now"]
    assert [e.text for _, e in simulation.events if isinstance(e, StopHeard)] == ["stop"]
    assert prompts(simulation)[0] == ("user", "what time is it now")


def test_said_before_the_answer_begins_it_takes_the_question_back() -> None:
    simulation = Simulation(
        [Said(tone(1.5), "tell me about the"), said_after(0.15, "stop", 0.5)]
    ).run()
    assert done(simulation) == []
    assert len([e for _, e in simulation.events if isinstance(e, StopHeard)]) == 1
    assert prompts(simulation) == []
