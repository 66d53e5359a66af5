"""The scripted models: they know what was said by its samples, and cost what they are told to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import BLOCK_SAMPLES
from s2s.core.clock import ManualClock
from s2s.core.events import Heard
from s2s.llm.base import ChatMessage
from s2s.testing.simulator import (
    SYNTH_HZ,
    EnergyVad,
    ModelCosts,
    Said,
    ScriptedChat,
    ScriptedEndOfTurn,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    ScriptWords,
    Simulation,
    tone,
    with_pauses,
)

SENTENCE = Said(tone(3.0), "one two three four five six")


def aligned(audio: np.ndarray) -> np.ndarray:
    """As windows of a microphone: the last one filled with silence."""
    return np.pad(audio, (0, -len(audio) % BLOCK_SAMPLES))


def test_all_that_was_said_is_heard() -> None:
    words = ScriptWords([SENTENCE])
    assert words.heard(aligned(SENTENCE.audio)) == SENTENCE.text
    assert words.heard(np.zeros(4 * BLOCK_SAMPLES, np.float32)) == ""


@given(st.integers(1, 93))
def test_words_come_in_order_as_more_is_heard(windows: int) -> None:
    words = ScriptWords([SENTENCE])
    heard = words.heard(aligned(SENTENCE.audio)[: windows * BLOCK_SAMPLES])
    assert SENTENCE.text.startswith(heard)


def test_pauses_split_a_sentence_between_words() -> None:
    paused = with_pauses(SENTENCE, (0.5, 1.0))
    assert paused.text == SENTENCE.text
    assert len(paused.audio) == pytest.approx(len(SENTENCE.audio) + 16_000, abs=2 * BLOCK_SAMPLES)


def test_models_cost_what_they_are_told_to() -> None:
    clock, costs = ManualClock(), ModelCosts()
    words = ScriptWords([SENTENCE])
    audio = aligned(SENTENCE.audio)
    assert ScriptedTranscriber(words, clock, 0.08).transcribe(audio).text == SENTENCE.text
    assert clock.now() == pytest.approx(0.08)
    end = ScriptedEndOfTurn(words, {"six": 0.97}, clock, 0.06)
    assert end.probability(audio) == 0.97
    assert end.probability(audio[: 40 * BLOCK_SAMPLES]) < 0.1
    began_s = clock.now()
    said = list(ScriptedChat(clock, costs, str.upper).stream([ChatMessage("user", "a b")]))
    assert said == ["A ", "B"]
    assert clock.now() - began_s == pytest.approx(costs.first_token_s + 2 * costs.token_s)


def test_a_voice_takes_as_long_as_its_text_and_stops_when_told() -> None:
    clock = ManualClock()
    voice = ScriptedSynthesizer(clock, ModelCosts(tts_rtf=0.5, tts_first_s=0.0))
    chunks = list(voice.synthesize("x" * 30))
    seconds = sum(len(chunk.samples) for chunk in chunks) / SYNTH_HZ
    assert seconds == pytest.approx(2.0)
    assert clock.now() == pytest.approx(1.0)
    assert chunks[-1].spoken_chars == 30
    assert list(voice.synthesize("x", stop=lambda: True)) == []


def test_speech_is_what_is_loud() -> None:
    vad = EnergyVad()
    assert vad.probability(tone(0.1)) > 0.5 > vad.probability(np.zeros(512, np.float32))


def test_a_conversation_is_the_same_every_time() -> None:
    one, other = (Simulation([SENTENCE]).run() for _ in range(2))
    assert [(at_s, type(event)) for at_s, event in one.events] == [
        (at_s, type(event)) for at_s, event in other.events
    ]
    heard = [event.text for _, event in one.events if isinstance(event, Heard) and event.final]
    assert heard == [SENTENCE.text]
