"""The person's voice: made into vectors once, and compared with what is heard from then on."""

from __future__ import annotations

import numpy as np

from s2s.core.arrays import Floats
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.audio.gain import speech_level_db
from s2s.turns.base import Vad
from s2s.turns.speaker.embedder import SpeakerEmbedder
from s2s.turns.speaker.enrolment import MIN_SPEECH_S, EnrolmentError, VoicePrint

MIN_SAMPLES = PIPELINE_HZ // 5
"""Less than a fifth of a second says nothing about a voice."""

SPEECH = 0.5
"""Windows of at least this probability are what a voice is enrolled from."""

BELOW_SPEECH_DB = 5.0
"""Level of the noise below the speech, where it is enrolled in noise as well: with it half as many
of the person's turns are lost at the same share of others (docs/decisions/only-my-voice.md)."""


class KnownVoice:
    """`turns.base.OwnVoice` by an embedder. Safe from any thread."""

    def __init__(self, embedder: SpeakerEmbedder, vectors: Floats) -> None:
        """`vectors`: float32 [sounds, dimensions], each of length 1, by the same embedder: speech
        that is like one of them is like the voice."""
        self._embedder = embedder
        self._vectors = vectors

    def likeness(self, audio: Block) -> float:
        if len(audio) < MIN_SAMPLES:
            return 0.0
        return float(np.max(np.einsum("sd,d->s", self._vectors, self._embedder.embed(audio))))


def speech_of(audio: Block, vad: Vad) -> Block:
    """What of `audio`, float32 [samples] at 16 kHz, is speech: its windows, put together."""
    whole = len(audio) // BLOCK_SAMPLES * BLOCK_SAMPLES
    windows = audio[:whole].reshape(-1, BLOCK_SAMPLES)
    spoken = [window for window in windows if vad.probability(window) >= SPEECH]
    return np.concatenate(spoken) if spoken else np.zeros(0, dtype=np.float32)


def enrol(audio: Block, vad: Vad, embedder: SpeakerEmbedder) -> VoicePrint:
    """The voice that speaks in `audio`, float32 [samples] at 16 kHz.

    What it is like as it is, and what it is like in noise: a turn is seldom heard in quiet.

    Raises:
        EnrolmentError: there is too little speech in it.
    """
    speech = speech_of(audio, vad)
    speech_s = len(speech) / PIPELINE_HZ
    if speech_s < MIN_SPEECH_S:
        raise EnrolmentError(
            f"only {speech_s:.1f} s of speech were heard in {len(audio) / PIPELINE_HZ:.1f} s; "
            f"at least {MIN_SPEECH_S:.0f} s are needed. Speak on, or give another recording"
        )
    sounds = (embedder.embed(speech), embedder.embed(in_noise(speech)))
    return VoicePrint(np.stack(sounds), embedder.name, speech_s)


def in_noise(speech: Block) -> Block:
    """`speech`, float32 [samples at 16 kHz], with pink noise `BELOW_SPEECH_DB` below it; by loud
    frames. The same noise every time."""
    white = np.fft.rfft(np.random.default_rng(0).standard_normal(len(speech)))
    white[0] = 0.0
    white[1:] /= np.sqrt(np.arange(1, len(white)))
    noise = np.fft.irfft(white, len(speech)).astype(np.float32)
    above_db = speech_level_db(speech, PIPELINE_HZ) - speech_level_db(noise, PIPELINE_HZ)
    factor = 10 ** ((above_db - BELOW_SPEECH_DB) / 20)
    return (speech + factor * noise).astype(np.float32)
