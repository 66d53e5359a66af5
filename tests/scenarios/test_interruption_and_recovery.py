"""Reports of assistants that were cut off, or never came back, as regression tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2s.core.audio import PIPELINE_HZ
from s2s.core.events import Heard, Interruption, NothingSpoken
from s2s.session.config import SessionConfig
from s2s.testing.simulator import SYNTH_HZ, ModelCosts, Said, Simulation, tone
from tests.scenarios.conversations import (
    LONG_ANSWER,
    QUESTION,
    QUESTION_ENDS_S,
    Hung,
    actions,
    audible_s,
    done,
    heard,
    long_answer,
    noise,
    prompts,
    room,
    said_after,
    started_s,
    statuses,
)


def played(simulation: Simulation) -> np.ndarray:
    """What was played, without the silences at both ends: float32 [samples]."""
    sound = simulation.transport.assistant()
    loud = np.flatnonzero(sound)
    return sound[loud[0] : loud[-1] + 1]


def test_mm_hmm_goes_on_at_the_very_sample() -> None:
    """hf/speech-to-speech#565: an acknowledgement aborts the answer and is answered itself."""
    nod = said_after(3.0, "mm-hmm", 0.4)
    alone = played(Simulation([QUESTION], answer=long_answer).run())
    simulation = Simulation([QUESTION, nod], answer=long_answer).run()
    with_nod = played(simulation)
    assert len(simulation.chat.prompts) == 1
    assert len(with_nod) == len(alone)
    changed = np.flatnonzero(with_nod != alone)
    assert 0 < len(changed) < 0.8 * SYNTH_HZ, "turned down, for less than a second"
    assert np.all(np.abs(with_nod) <= np.abs(alone))


def test_it_resumes_when_no_words_come() -> None:
    """livekit/agents#4039: a false interruption paused the answer, and it never resumed."""
    hum = said_after(3.0, "", 0.9)
    simulation = Simulation([QUESTION, hum], answer=long_answer).run()
    assert actions(simulation) == ["duck", "pause", "restore"]
    assert statuses(simulation) == ["completed"]
    assert done(simulation)[0].played == LONG_ANSWER
    alone = played(Simulation([QUESTION], answer=long_answer).run())
    paused, resumed = (
        int(event.sample * SYNTH_HZ / PIPELINE_HZ)
        for _, event in simulation.events
        if isinstance(event, Interruption) and event.action in ("pause", "restore")
    )
    assert resumed - paused < 3.2 * SYNTH_HZ
    assert len(played(simulation)) - len(alone) == pytest.approx(resumed - paused, abs=1600)


COUGHS = {"short": 0.15, "long": 0.6}


@pytest.mark.parametrize("seconds", COUGHS.values(), ids=COUGHS)
@pytest.mark.parametrize("wait_s", [0.15, 0.4, 0.9, 1.8])
@pytest.mark.parametrize("speculative_tts", [True, False])
def test_a_cough_before_the_reply_does_not_lose_it(
    speculative_tts: bool, wait_s: float, seconds: float
) -> None:
    """livekit/agents#1229: a cough after the question, before the reply: no answer ever comes."""
    cough = Said(np.concatenate([np.zeros(int(wait_s * 16_000), np.float32), noise(seconds)]), "")
    simulation = Simulation(
        [QUESTION, replace(cough, after_quiet_s=None)],
        costs=ModelCosts(first_token_s=1.0, tts_first_s=1.0),
        config=SessionConfig(speculative_tts=speculative_tts),
    ).run()
    assert statuses(simulation)[-1] == "completed"
    assert done(simulation)[-1].played == "You said what time is it now. That is fine with me."
    assert heard(simulation) == ["what time is it now"]


HANGS = {"language model": Hung.chat, "speech synthesis": Hung.synthesizer}


@pytest.mark.parametrize("hang", HANGS.values(), ids=HANGS)
def test_the_assistant_never_hangs_speaking_without_sound(hang: object) -> None:
    """livekit/agents#3418: it says that it speaks, and is silent for minutes."""
    hung = Hung(100.0)
    models = {Hung.chat: hung.chat, Hung.synthesizer: hung.synthesizer}[hang]  # type: ignore[index]
    later = replace(QUESTION, after_quiet_s=3.0)
    simulation = Simulation([QUESTION, later], models=models).run()
    assert statuses(simulation) == ["failed", "completed"]
    assert "for 30 s" in (done(simulation)[0].error or "")
    given_up_s = next(at for at, e in simulation.events if e is done(simulation)[0])
    assert given_up_s < 40.0
    assert [at for at in audible_s(simulation) if abs(at - given_up_s) < 0.5], "it is heard"


def test_it_hears_after_an_answer_with_interruptions_off() -> None:
    """livekit/agents#2368: with interruptions off it is muted after its first answer."""
    over = said_after(3.0, "no tell me something else", 1.2)
    second = Said(tone(2.0, 200), "and what about tomorrow then", 1.0)
    simulation = Simulation(
        [QUESTION, over, second], answer=long_answer, room=room(half_duplex=True)
    ).run()
    assert actions(simulation) == []
    assert heard(simulation) == ["what time is it now", "and what about tomorrow then"]
    assert statuses(simulation) == ["completed", "completed"]


def test_it_hears_after_an_answer_that_failed_with_interruptions_off() -> None:
    """livekit/agents#2368: the microphone is opened again on every way out."""
    second = Said(tone(2.0, 200), "and what about tomorrow then", 3.0)
    simulation = Simulation(
        [QUESTION, second], models=Hung(60.0).synthesizer, room=room(half_duplex=True)
    ).run()
    assert statuses(simulation) == ["failed", "completed"]
    assert heard(simulation)[-1] == "and what about tomorrow then"


@pytest.mark.parametrize("stt_s", [0.5, 1.2, 2.5])
def test_late_words_of_the_question_do_not_interrupt_the_reply(stt_s: float) -> None:
    """kyutai/unmute#135: the reply stutters: late words of the question interrupt it."""
    simulation = Simulation([QUESTION], answer=long_answer, costs=ModelCosts(stt_s=stt_s)).run()
    assert actions(simulation) == []
    assert statuses(simulation) == ["completed"]


def test_clicks_do_not_cut_a_long_reply_short() -> None:
    """Open-LLM-VTuber#98: long replies are cut by a sensitive microphone."""
    gap = np.zeros(8_000, dtype=np.float32)
    clicks = [np.concatenate([gap, noise(0.06, seed=n)]) for n in range(20)]
    waited = np.concatenate([np.zeros(32_000, dtype=np.float32), *clicks])
    simulation = Simulation([QUESTION, Said(waited, "", None)], answer=long_answer).run()
    assert statuses(simulation) == ["completed"]
    assert done(simulation)[0].played == LONG_ANSWER
    assert set(actions(simulation)) <= {"duck", "restore"}


def test_interruptions_leave_no_marks_for_the_model_to_imitate() -> None:
    """Open-LLM-VTuber PR#362: after a few interruptions the model says nothing but "..."."""
    over = [said_after(3.0, "no wait tell me something else", 1.5) for _ in range(3)]
    simulation = Simulation([QUESTION, *over], answer=long_answer).run()
    assert statuses(simulation).count("cancelled") == 3
    answers = [content for role, content in prompts(simulation) if role == "assistant"]
    assert len(answers) >= 3
    assert all(LONG_ANSWER.startswith(answer) for answer in answers)


def test_an_answer_of_dots_is_not_remembered_and_the_person_hears_that_there_is_none() -> None:
    """Open-LLM-VTuber PR#362: a reply without words poisons what follows; and silence sounds like
    a fault (K5)."""
    simulation = Simulation([QUESTION], answer=lambda _: "...").run()
    assert statuses(simulation) == ["completed"]
    assert len(audible_s(simulation)) > 0
    (nothing,) = [event for _, event in simulation.events if isinstance(event, NothingSpoken)]
    assert nothing.text == "..."
    assert prompts(simulation) == [("user", "what time is it now")]


def test_thinking_that_was_not_marked_is_taken_back_and_the_answer_follows() -> None:
    """A template that opens the thinking: the answer has `</think>` alone, and too late."""
    thought = "They want to know the time of the day, it seems. I look at the clock now. "
    simulation = Simulation(
        [QUESTION], answer=lambda _: f"{3 * thought}</think> It is noon, more or less."
    ).run()
    assert statuses(simulation) == ["cancelled", "completed"]
    heard = [event for _, event in simulation.events if isinstance(event, Heard) and event.final]
    assert [event.text for event in heard] == ["what time is it now"]
    remembered = [content for role, content in prompts(simulation) if role == "assistant"]
    assert remembered == ["It is noon, more or less."]


def test_after_an_interruption_the_new_question_is_answered() -> None:
    """googleapis/python-genai#1987, livekit#4484: interrupted once, it never answers again."""
    over = said_after(3.0, "no tell me about london instead", 1.5)
    simulation = Simulation([QUESTION, over], answer=long_answer).run()
    assert statuses(simulation) == ["cancelled", "completed"]
    over_s = QUESTION_ENDS_S + 3.0 + 1.5
    assert started_s(simulation, 1) - over_s < 1.0
