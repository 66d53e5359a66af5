"""Silero VAD and the segmenter on human speech: where speech begins and ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer, read_wav, rms_db
from s2s.models.store import Store
from s2s.turns.segmenter import (
    FalseStart,
    Onset,
    ProvisionalEnd,
    Segmenter,
    SegmenterEvent,
    Started,
)
from s2s.turns.vad import SileroStream, SileroVad

pytestmark = pytest.mark.models

DATA = Path(__file__).parents[1] / "data"

SPEECH_S = {
    "librivox_0870": (0.236, 6.762),
    "librivox_0880": (0.251, 2.774),
    "librivox_0890": (0.260, 5.057),
    "librivox_0920": (0.246, 5.813),
    "librivox_0930": (0.269, 3.037),
}
"""First and last sound, labelled by hand (pocketsphinx 5.1.1, test/data/librivox/*.lab)."""


@pytest.fixture(scope="module")
def model() -> SileroVad:
    return SileroVad(Store().path("silero-vad"))


@pytest.fixture(scope="module")
def vad(model: SileroVad) -> SileroStream:
    return model.open()


def events_of(vad: SileroStream, audio: Block) -> list[SegmenterEvent]:
    vad.reset()
    segmenter = Segmenter()
    padded = np.concatenate([audio, np.zeros(PIPELINE_HZ // 2, dtype=np.float32)])
    events: list[SegmenterEvent] = []
    for block in Framer(BLOCK_SAMPLES).push(padded):
        events += segmenter.push(block, vad.probability(block))
    return events


def with_noise(audio: Block, below_db: float) -> Block:
    """`audio` with white noise `below_db` quieter than it."""
    amplitude = 10.0 ** ((rms_db(audio) - below_db) / 20.0)
    noise = np.random.default_rng(7).standard_normal(len(audio)) * amplitude
    return audio + noise.astype(np.float32)


@pytest.mark.parametrize("noise_db", [None, 20.0])
@pytest.mark.parametrize("name", SPEECH_S)
def test_speech_is_found_where_it_is(vad: SileroStream, name: str, noise_db: float | None) -> None:
    audio, _ = read_wav(DATA / f"{name}.wav", PIPELINE_HZ)
    heard = audio if noise_db is None else with_noise(audio, noise_db)
    events = events_of(vad, heard)
    (started,) = [event for event in events if isinstance(event, Started)]
    end = [event.end_sample for event in events if isinstance(event, ProvisionalEnd)][-1]
    first_s, last_s = SPEECH_S[name]
    assert abs(started.onset_sample / PIPELINE_HZ - first_s) <= 0.25
    assert abs(end / PIPELINE_HZ - last_s) <= 0.15
    assert started.start_sample / PIPELINE_HZ <= first_s, "the first phoneme is lost"


def cough(random: np.random.Generator) -> Block:
    """Two short, decaying bursts of noise around 1 kHz, as loud as speech."""
    samples = int(0.12 * PIPELINE_HZ)
    time_s = np.arange(samples) / PIPELINE_HZ
    burst = random.standard_normal(samples) * np.exp(-time_s / 0.035)
    burst = np.convolve(burst, np.hanning(12), mode="same")
    gap = np.zeros(int(0.15 * PIPELINE_HZ))
    joined = np.concatenate([burst, gap, 0.7 * burst])
    return (0.5 * joined / np.abs(joined).max()).astype(np.float32)


def clicks(random: np.random.Generator) -> Block:
    """A keyboard: single samples at full scale, eight a second."""
    audio = np.zeros(2 * PIPELINE_HZ, dtype=np.float32)
    audio[random.integers(0, len(audio), 16)] = 0.9
    return audio


def bang(random: np.random.Generator) -> Block:
    """A door: 300 ms of low noise at full scale."""
    samples = int(0.3 * PIPELINE_HZ)
    noise = np.convolve(random.standard_normal(samples), np.ones(40), mode="same")
    return (0.9 * noise / np.abs(noise).max()).astype(np.float32)


def hiss(random: np.random.Generator) -> Block:
    """Ten seconds of loud white noise."""
    return (0.2 * random.standard_normal(10 * PIPELINE_HZ)).astype(np.float32)


@pytest.mark.parametrize("sound", [cough, clicks, bang, hiss])
def test_noises_start_nothing(vad: SileroStream, sound) -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        quiet = (0.0005 * random.standard_normal(PIPELINE_HZ)).astype(np.float32)
        events = events_of(vad, np.concatenate([quiet, sound(random), quiet]))
        assert all(isinstance(event, (Onset, FalseStart)) for event in events), events


def test_streams_of_one_model_do_not_mix_and_reset_forgets(
    model: SileroVad, vad: SileroStream
) -> None:
    audio, _ = read_wav(DATA / "librivox_0880.wav", PIPELINE_HZ)
    blocks = list(Framer(BLOCK_SAMPLES).push(audio))
    other = model.open()
    vad.reset()
    alone = [vad.probability(block) for block in blocks]
    vad.reset()
    together = []
    for block in blocks:
        together.append(vad.probability(block))
        other.probability(-block[::-1])
    assert together == alone


def test_a_window_of_the_wrong_length_is_refused(vad: SileroStream) -> None:
    with pytest.raises(ValueError, match="512"):
        vad.probability(np.zeros(480, dtype=np.float32))
