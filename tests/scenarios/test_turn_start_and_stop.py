"""Reports of turns that never began or never ended, told by their symptom, as regression tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2s.core.clock import Clock
from s2s.core.events import Notice
from s2s.session.models import Models
from s2s.testing.simulator import ModelCosts, Said, Simulation, tone, with_pauses
from s2s.turns.base import Vad
from tests.scenarios.conversations import (
    LONG_ANSWER,
    QUESTION,
    QUESTION_ENDS_S,
    actions,
    audible_s,
    done,
    heard,
    long_answer,
    room,
    said_after,
    started_s,
    statuses,
)


@pytest.mark.parametrize("word", ["yes", "ok", "no"])
def test_yes_is_heard(word: str) -> None:
    """pipecat#984: "yes" and "ok" are ignored, since they are shorter than speech has to be."""
    simulation = Simulation([Said(tone(0.26), word)]).run()
    assert heard(simulation) == [word]
    assert statuses(simulation) == ["completed"]


def test_yes_to_a_question_that_is_still_being_asked_is_heard() -> None:
    """pipecat#984: the same where it begins over the last word of the assistant's question."""
    asks = "I can look that up. Do you want me to look it up for you now?"
    first = Simulation([QUESTION], answer=lambda _: asks).run()
    wait_s = audible_s(first)[-1] - 0.1 - QUESTION_ENDS_S
    yes = said_after(wait_s, "yes", 0.5)
    simulation = Simulation([QUESTION, yes], answer=lambda _: asks).run()
    assert heard(simulation) == ["what time is it now", "yes"]
    assert statuses(simulation) == ["completed", "completed"]


def test_hmm_does_not_interrupt() -> None:
    """pipecat#1391: what makes "yes" heard must not let "hmm" cut the assistant off."""
    hmm = said_after(3.0, "hmm", 0.26)
    simulation = Simulation([QUESTION, hmm], answer=long_answer).run()
    assert statuses(simulation) == ["completed"]
    assert done(simulation)[0].played == LONG_ANSWER
    assert "cancel" not in actions(simulation)


def test_sure_is_not_followed_by_five_seconds_of_silence() -> None:
    """pipecat#3643: a turn that began otherwise than by the voice detector had no way to end."""
    simulation = Simulation([Said(tone(0.26), "sure")]).run()
    assert audible_s(simulation)[0] - 0.6 - 0.26 < 1.0


def test_a_short_word_over_a_reply_has_an_end_of_its_own() -> None:
    """pipecat#3643: neither does speech over a reply wait for anything that may never come."""
    wait = said_after(3.0, "wait", 0.26)
    simulation = Simulation([QUESTION, wait, QUESTION], answer=long_answer).run()
    assert statuses(simulation) == ["cancelled", "completed"]


def test_tak_is_not_swallowed_when_its_transcript_is_late() -> None:
    """pipecat#4279: the words of a short answer arrive when its turn is long over."""
    simulation = Simulation([Said(tone(0.26), "tak")], costs=ModelCosts(stt_s=3.0)).run()
    assert heard(simulation) == ["tak"]
    assert statuses(simulation) == ["completed"]


def test_late_words_over_a_reply_are_answered() -> None:
    """pipecat#4279: the same over a reply, where the recogniser is slower than any patience."""
    over = said_after(6.0, "what about mars", 0.8)
    costs = ModelCosts(stt_s=3.0)
    simulation = Simulation([QUESTION, over], answer=long_answer, costs=costs).run()
    assert heard(simulation) == ["what time is it now", "what about mars"]
    assert statuses(simulation) == ["cancelled", "completed"]


def test_a_turn_is_whole_that_began_before_the_reply_ended() -> None:
    """pipecat#4950: the end of the reply reset what was known of the person's speech."""
    first = Simulation([QUESTION]).run()
    wait_s = audible_s(first)[-1] - 0.2 - QUESTION_ENDS_S
    simulation = Simulation([QUESTION, said_after(wait_s, "and what about tomorrow then", 2.0)])
    assert heard(simulation.run())[-1] == "and what about tomorrow then"
    assert len(done(simulation)) == 2
    assert statuses(simulation)[-1] == "completed"


def test_frames_that_stop_end_the_turn() -> None:
    """pipecat PR#4244, RealtimeSTT#258: muted in mid-sentence, it listens for ever."""
    muted = room(muted=lambda at_s: 1.8 <= at_s < 9.0)
    simulation = Simulation([Said(tone(3.0), "please turn on the kitchen lights")], room=muted)
    assert heard(simulation.run())[0] == "please turn"
    assert 2.8 <= started_s(simulation) < 5.0


def test_frames_that_stop_over_a_reply_let_it_go_on() -> None:
    """pipecat PR#4244: nor may it stay paused for ever, waiting for the words of who is muted."""
    over = said_after(2.0, "", 3.0)
    muted = room(muted=lambda at_s: 5.0 <= at_s < 60.0)
    simulation = Simulation([QUESTION, over], answer=long_answer, room=muted).run()
    assert "pause" in actions(simulation)
    assert statuses(simulation) == ["completed"]
    assert done(simulation)[0].played == LONG_ANSWER
    assert audible_s(simulation)[-1] < 40.0, "it did not wait for the microphone"


def test_a_voice_detector_that_fails_hears_again() -> None:
    """RealtimeSTT#259: the voice detector's state is spoilt, and nothing is heard any more."""

    class Fails:
        def __init__(self, models: Models) -> None:
            self.inner, self.windows, self.resets = models.vad.open(), 0, 0

        def open(self) -> Vad:
            return self

        def probability(self, block: np.ndarray) -> float:
            self.windows += 1
            if self.windows == 20:
                raise RuntimeError("not a number")
            return self.inner.probability(block)

        def reset(self) -> None:
            self.resets += 1

    vads: list[Fails] = []

    def failing(models: Models, _clock: Clock) -> Models:
        vads.append(Fails(models))
        return replace(models, vad=vads[0])

    simulation = Simulation([QUESTION, replace(QUESTION, after_quiet_s=2.0)], models=failing).run()
    assert heard(simulation)[-1] == "what time is it now"
    assert vads[0].resets == 1
    assert [e for _, e in simulation.events if isinstance(e, Notice)]


def test_hearing_that_fell_behind_catches_up() -> None:
    """RealtimeSTT#259: frames pile up behind a slow model, and speech is never noticed again."""
    costs = ModelCosts(end_of_turn_s=4.0)
    second = Said(tone(2.0, 200), "and what about tomorrow then")
    simulation = Simulation([QUESTION, second], costs=costs).run()
    assert heard(simulation) == ["what time is it now", "and what about tomorrow then"]
    assert statuses(simulation) == ["completed", "completed"]
    mic = simulation.session.stages[0].inbox
    assert mic.peak <= mic.capacity
    assert len(mic) == 0


def test_constant_noise_does_not_hold_a_turn_open() -> None:
    """home-assistant/core#122177: with a fan in the room the end of speech is never noticed."""
    words = " ".join(f"word{n}" for n in range(60))
    simulation = Simulation([Said(tone(40.0), words)]).run()
    assert started_s(simulation) < 32.0
    assert " ".join(heard(simulation)).split() == words.split()


def test_the_time_of_the_models_is_not_added_to_the_grace() -> None:
    """pipecat PR#5007: the turn is released late by what the end-of-turn model takes."""
    paused = with_pauses(replace(QUESTION, text="what time is it and"), (0.5, 0.3))

    def first_sound(end_of_turn_s: float) -> float:
        costs = ModelCosts(end_of_turn_s=end_of_turn_s)
        return audible_s(Simulation([paused], costs=costs).run())[0]

    assert first_sound(0.4) <= first_sound(0.0) + 0.04
