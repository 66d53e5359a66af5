"""Asked to speak slower or louder, it does so; and not before it is certain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.core.audio.manner import FASTEST, SpeakingManner, SpokenManner
from s2s.core.clock import ManualClock
from s2s.core.events import AnswerText, Heard
from s2s.core.messages import TurnId
from s2s.llm.apologies import NOT_HEARD
from s2s.llm.base import ChatMessage
from s2s.llm.manner.spoken import LIMIT, MANNER_REPLIES, MannerChat
from s2s.session.config import SessionConfig
from s2s.testing.simulator import (
    SYNTH_HZ,
    ModelCosts,
    Said,
    ScriptedChat,
    Simulation,
    tone,
)
from tests.scenarios.conversations import said_after, statuses

TURN = TurnId("t", 0)


class Rig:
    """A model that echoes, whose listener can ask for another manner."""

    def __init__(self, *spoken: str) -> None:
        costs = ModelCosts(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        self.manner = SpokenManner()
        model = ScriptedChat(ManualClock(), costs, lambda words: f"model: {words}")
        self.chat = MannerChat(model, self.manner, spoken)

    def say(self, text: str, *, certain: bool = True) -> str:
        messages = [ChatMessage("system", "s"), ChatMessage("user", text)]
        answer = "".join(str(part) for part in self.chat.stream(messages))
        if certain:
            self.chat.on_event(Heard(TURN, text.splitlines()[-1], final=True))
        return answer


def test_every_language_has_every_reply() -> None:
    assert set(MANNER_REPLIES) == set(NOT_HEARD)
    for language, replies in MANNER_REPLIES.items():
        assert set(replies) == {"slower", "faster", "louder", "quieter", "normal", LIMIT}, language
        assert len(set(replies.values())) == 6


def test_a_request_is_answered_and_heeded_and_all_else_is_the_models() -> None:
    rig = Rig()
    assert rig.say("never answered\nSpeak slower.") == "I speak slower now."
    assert rig.manner.settled.speed < 1
    assert rig.say("what time is it") == "model: what time is it"
    assert rig.say("Lauter!") == "Ich spreche jetzt lauter."
    assert rig.manner.settled == SpeakingManner(rig.manner.settled.speed, 4.0)
    assert rig.say("Speak normally.") == "I speak as usual again."
    assert rig.say("Speak normally.") == "I speak as usual again."
    assert rig.manner.settled == SpeakingManner()


def test_where_there_is_no_further_step_it_says_so() -> None:
    rig = Rig()
    said = [rig.say("faster") for _ in range(6)]
    assert said[0] == "I speak faster now."
    assert said[-1] == "That is as far as I can go."
    assert rig.manner.settled.speed == FASTEST


def test_a_reply_is_in_a_language_that_the_voice_has() -> None:
    assert Rig("en", "fr").say("Lauter!") == "I speak louder now."


def test_what_is_not_certain_is_tried_out_and_dropped() -> None:
    rig = Rig()
    rig.say("speak slower", certain=False)
    assert rig.manner.current.speed < 1
    rig.say("speak slower than him is impossible")
    assert rig.manner.current == SpeakingManner()


# --- whole conversations --------------------------------------------------------------------------


def answers(simulation: Simulation) -> list[str]:
    return [event.text for _, event in simulation.events if isinstance(event, AnswerText)]


def spoken(simulation: Simulation) -> list[Block]:
    """The sound of each answer, float32 [samples], without the silence around it."""
    sound = simulation.transport.assistant()
    at = np.flatnonzero(np.abs(sound) > 1e-4)
    cuts = np.flatnonzero(np.diff(at) > SYNTH_HZ // 4) + 1
    return [sound[part[0] : part[-1] + 1] for part in np.split(at, cuts)]


def talk(ask: str, *, adjustable: bool = True) -> Simulation:
    said = [
        Said(tone(1.5), "what time is it"),
        Said(tone(1.2, 210.0), ask),
        Said(tone(1.5, 190.0), "what time is it"),
    ]
    config = replace(SessionConfig(), adjustable_voice=adjustable)
    answer = "It is noon and the sun is high over the old town."
    return Simulation(said, answer=lambda _: answer, config=config).run()


def test_slower_takes_longer_and_says_the_same() -> None:
    simulation = talk("speak slower")
    assert statuses(simulation) == ["completed"] * 3
    assert answers(simulation)[1] == "I speak slower now."
    before, _, after = spoken(simulation)
    assert len(after) / len(before) == pytest.approx(1.2, rel=0.03)
    prompt = simulation.session.history.prompt()
    assert prompt[-1].content == "It is noon and the sun is high over the old town."


def test_louder_is_louder_by_four_decibels() -> None:
    before, _, after = spoken(talk("a bit louder, please"))
    rms = [float(np.sqrt(np.mean(sound**2))) for sound in (before, after)]
    assert 20 * np.log10(rms[1] / rms[0]) == pytest.approx(4.0, abs=0.3)
    assert len(after) == pytest.approx(len(before), rel=0.02)


def test_the_answer_that_tells_of_it_is_spoken_so() -> None:
    _, reply, _ = spoken(talk("louder"))
    _, plain, _ = spoken(talk("louder", adjustable=False))
    assert np.abs(reply).max() > np.abs(plain).max()


def test_where_it_is_off_the_model_answers() -> None:
    assert "I speak slower now." not in answers(talk("speak slower", adjustable=False))


def test_who_goes_on_speaking_has_asked_for_something_else() -> None:
    said = [Said(tone(1.2), "speak slower"), said_after(0.35, "than he does", 0.8)]
    simulation = Simulation(said, answer=lambda _: "As you like.").run()
    assert answers(simulation)[-1] == "As you like."
