"""A voice is enrolled as it is and as it is in noise."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.audio.gain import speech_level_db
from s2s.models.resources import Resources
from s2s.turns.speaker.config import GateConfig
from s2s.turns.speaker.embedder import SpeakerEmbedder
from s2s.turns.speaker.own_voice import BELOW_SPEECH_DB, KnownVoice, enrol, in_noise, speech_of
from s2s.turns.vad import SileroVad


def test_the_noise_is_as_far_below_as_is_said_and_the_same_again() -> None:
    speech = (0.1 * np.random.default_rng(1).standard_normal(32_000)).astype(np.float32)
    noise = in_noise(speech) - speech
    below_db = speech_level_db(speech, PIPELINE_HZ) - speech_level_db(noise, PIPELINE_HZ)
    assert below_db == pytest.approx(BELOW_SPEECH_DB, abs=0.1)
    assert in_noise(speech).dtype == np.float32
    np.testing.assert_array_equal(in_noise(speech), in_noise(speech))


@pytest.mark.models("speaker-campplus", "silero-vad")
def test_an_enrolled_voice_is_known_in_noise(
    resources: Resources, librivox: dict[str, tuple[Block, str]]
) -> None:
    store = resources.store
    embedder = SpeakerEmbedder(store.path("speaker-campplus"), "speaker-campplus")
    speech = librivox["librivox_0870"][0]
    voice = enrol(speech, SileroVad(store.path("silero-vad")).open(), embedder)
    np.testing.assert_allclose(np.linalg.norm(voice.vectors, axis=1), 1.0, atol=1e-5)
    noisy = in_noise(speech_of(speech, SileroVad(store.path("silero-vad")).open()))
    plain = KnownVoice(embedder, voice.vectors[:1]).likeness(noisy)
    assert KnownVoice(embedder, voice.vectors).likeness(noisy) == pytest.approx(1.0, abs=1e-4)
    assert plain < 0.99
    other = librivox["librivox_0920"][0]
    assert KnownVoice(embedder, voice.vectors).likeness(in_noise(other)) > GateConfig().mine
