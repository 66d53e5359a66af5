"""A satellite on a real wake word, real voice activity and real speech: what reaches Home Assistant
is written down by the embedded recogniser."""

from __future__ import annotations

import numpy as np
import pytest
from wyoming.audio import AudioChunk, AudioStart
from wyoming.event import Event
from wyoming.satellite import RunSatellite

from s2s.bench.hearing.wer import words
from s2s.core.audio import PIPELINE_HZ, Block, from_int16, resample
from s2s.models.resources import Resources
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.transport.wyoming.satellite.config import SatelliteConfig
from s2s.turns.orders.wake_word import MicroWakeModel
from s2s.turns.vad import SileroVad
from tests.support.recordings import DATA
from tests.support.satellite import Listener, silence
from tests.support.wyoming import types

pytestmark = pytest.mark.models

BEGUN = ["detection", "run-pipeline", "streaming-started", "audio-chunk"]
ENDED = ["audio-stop", "streaming-stopped"]


@pytest.fixture(scope="module")
def ears(resources: Resources) -> Moonshine:
    return Moonshine(MoonshineConfig(), resources)


@pytest.fixture(scope="module")
def wake_words(resources: Resources) -> Block:
    """ "Hey Jarvis." in the embedded voice, float32 [samples at 16 kHz]."""
    from s2s.config import registry

    pytest.importorskip("pymicro_wakeword")
    voice = registry.create_synthesizer("hibari", None, resources)
    sound = np.concatenate([chunk.samples for chunk in voice.synthesize("Hey Jarvis.")])
    voice.close()
    return resample(sound, voice.capabilities.sample_rate_hz, PIPELINE_HZ)


@pytest.fixture(scope="module")
def sentence() -> Block:
    from s2s.core.audio import read_wav

    return read_wav(DATA / "librivox_0880.wav", PIPELINE_HZ)[0]


@pytest.fixture
def listener(resources: Resources, wake_words: Block) -> Listener:
    """Home Assistant is there. (The wake word's package is installed if its sound was made.)"""
    vad = SileroVad(resources.store.path("silero-vad"))
    made = Listener(SatelliteConfig(), {"hey_jarvis": MicroWakeModel("hey_jarvis")}, vad)
    made.talk.take(RunSatellite().event())
    return made


def streamed(events: list[Event]) -> Block:
    """What Home Assistant hears, float32 [samples at 16 kHz]."""
    chunks = [AudioChunk.from_event(each) for each in events if AudioChunk.is_type(each.type)]
    pcm = b"".join(each.audio for each in chunks)
    return from_int16(np.frombuffer(pcm, "<i2").astype(np.int16))


def test_what_is_said_behind_the_wake_word_is_streamed_to_its_end(
    listener: Listener, ears: Moonshine, wake_words: Block, sentence: Block
) -> None:
    listener.hear(np.concatenate([silence(1.0), sentence, silence(2.0)]))
    assert listener.events() == [], "nothing leaves before the wake word"
    listener.hear(np.concatenate([wake_words, silence(0.8), sentence, silence(2.0)]))
    events = listener.events()
    assert types(events) == [*BEGUN, *ENDED]
    heard = words(ears.transcribe(streamed(events)).text)
    assert "jarvis" not in heard
    assert {"he", "young", "man"} <= set(heard)


def test_an_answer_that_somebody_speaks_over_is_cut_and_the_words_are_the_next_question(
    listener: Listener, ears: Moonshine, sentence: Block
) -> None:
    listener.talk.take(AudioStart(22_050, 2, 1).event())
    listener.hear(np.concatenate([silence(1.0), sentence, silence(2.0)]))
    events = listener.events()
    assert types(events) == ["played", "run-pipeline", "streaming-started", "audio-chunk", *ENDED]
    assert listener.sound.told == ["begin", "cut"]
    heard = words(ears.transcribe(streamed(events)).text)
    assert heard[:2] == words(ears.transcribe(sentence).text)[:2], "from the first word on"
    assert heard[-1] == "man"
