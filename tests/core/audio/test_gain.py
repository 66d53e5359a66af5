"""Quiet speech is made loud, and nothing else is touched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import BLOCK_SAMPLES, Block, read_wav
from s2s.core.audio.gain import (
    MAX_GAIN_DB,
    QUIET_DB,
    TARGET_DB,
    MicrophoneGain,
    gain_for,
    raised,
    speech_level_db,
)
from tests.support.recordings import DATA

RANDOM = np.random.default_rng(0)
SPEECH = read_wav(DATA / "librivox_0930.wav", 16_000)[0]
LEVEL_DB = speech_level_db(SPEECH, 16_000)


def at(level_db: float, speech: Block = SPEECH) -> Block:
    return (speech * 10 ** ((level_db - LEVEL_DB) / 20)).astype(np.float32)


def through(gain: MicrophoneGain, samples: Block) -> Block:
    whole = len(samples) - len(samples) % BLOCK_SAMPLES
    return np.concatenate(
        [gain.process(b) for b in np.split(samples[:whole], whole // BLOCK_SAMPLES)]
    )


@pytest.mark.parametrize("level_db", [-10.0, -20.0, -30.0, QUIET_DB + 0.1])
def test_a_recording_that_is_loud_enough_passes_to_the_bit(level_db: float):
    made = raised(at(level_db), 16_000)
    assert made.gain_db == 0.0
    assert np.array_equal(made.samples, at(level_db))


@pytest.mark.parametrize("level_db", [-10.0, -20.0, -30.0])
def test_a_microphone_that_is_loud_enough_passes_to_the_bit(level_db: float):
    gain = MicrophoneGain()
    heard = through(gain, at(level_db))
    assert np.array_equal(heard[8000:], at(level_db)[8000 : len(heard)])


@pytest.mark.parametrize("level_db", [-42.0, -50.0, -60.0, TARGET_DB - MAX_GAIN_DB])
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 48_000])
def test_a_quiet_recording_comes_at_the_usual_level(level_db: float, rate_hz: int):
    speech = np.repeat(SPEECH, 3) if rate_hz == 48_000 else SPEECH
    quiet = at(level_db, speech[:: 16_000 // rate_hz] if rate_hz < 16_000 else speech)
    made = raised(quiet, rate_hz)
    assert made.level_db == pytest.approx(level_db, abs=2.5)
    assert speech_level_db(made.samples, rate_hz) == pytest.approx(TARGET_DB, abs=0.7)
    assert made.gain_db == pytest.approx(TARGET_DB - made.level_db) or made.gain_db == MAX_GAIN_DB


def test_there_is_a_limit():
    assert raised(at(-90.0), 16_000).gain_db == MAX_GAIN_DB
    assert gain_for(float("-inf")) == 0.0


@pytest.mark.parametrize(
    "silence",
    [np.zeros(0), np.zeros(16_000), np.full(16_000, 0.5), np.zeros(1)],
    ids=["nothing", "zeros", "a constant", "one sample"],
)
def test_silence_stays_silence(silence: np.ndarray):
    made = raised(silence.astype(np.float32), 16_000)
    assert np.array_equal(made.samples, silence.astype(np.float32))


def test_a_click_does_not_hide_quiet_speech():
    clicked = at(-60.0)
    clicked[5000:5020] = 0.9
    assert raised(clicked, 16_000).gain_db == pytest.approx(34.0, abs=1.0)
    assert np.abs(raised(clicked, 16_000).samples).max() <= 1.0


@given(st.lists(st.floats(-1, 1, width=32), max_size=200), st.integers(1, 96_000))
def test_any_samples_stay_within_full_scale(values: list[float], rate_hz: int):
    samples = np.array(values, dtype=np.float32)
    made = raised(samples, rate_hz)
    assert len(made.samples) == len(samples)
    assert np.isfinite(made.samples).all()
    assert not len(samples) or np.abs(made.samples).max() <= 1.0


@pytest.mark.parametrize("level_db", [-45.0, -55.0, -63.0])
def test_a_quiet_microphone_is_raised_and_told_once(level_db: float):
    room = (RANDOM.standard_normal(16_000) * 10 ** ((level_db - 30) / 20)).astype(np.float32)
    quiet = np.concatenate([room, at(level_db), room, at(level_db)])
    gain = MicrophoneGain()
    heard = through(gain, quiet)
    again = heard[-len(SPEECH) + BLOCK_SAMPLES :]
    assert speech_level_db(again, 16_000) == pytest.approx(TARGET_DB, abs=5.0)
    hint = gain.hint("USB Mic")
    assert hint is not None
    assert "'USB Mic' is quiet: speech comes at -" in hint
    assert "louder" in hint
    assert gain.hint("USB Mic") is None


@pytest.mark.parametrize("noise_db", [-80.0, -60.0, -45.0])
def test_a_rooms_steady_noise_is_not_raised(noise_db: float):
    noise = (RANDOM.standard_normal(16_000 * 12) * 10 ** (noise_db / 20)).astype(np.float32)
    gain = MicrophoneGain()
    through(gain, noise)
    assert gain.gain_db == 0.0
    assert gain.hint("Mic") is None


def test_a_quiet_voice_after_a_loud_one_is_not_the_persons():
    gain = MicrophoneGain()
    through(gain, np.concatenate([at(-20.0), at(-50.0), at(-50.0)]))
    assert gain.gain_db == 0.0


@pytest.mark.parametrize("noise_s", [0.1, 0.3, 0.45])
@pytest.mark.parametrize("noise_db", [-60.0, -50.0, -42.0])
def test_noise_before_the_first_word_changes_nothing(noise_s: float, noise_db: float):
    """A stream of zeros, then a microphone's noise for a moment, then speech at the usual level."""
    noise = RANDOM.standard_normal(int(noise_s * 16_000)) * 10 ** (noise_db / 20)
    said = SPEECH[np.argmax(np.abs(SPEECH) > 0.05) :]
    stream = np.concatenate([np.zeros(16_000), noise, said]).astype(np.float32)
    heard = through(MicrophoneGain(), stream)
    assert np.array_equal(heard, stream[: len(heard)])


def test_a_loud_word_in_a_raised_stream_is_not_clipped():
    gain = MicrophoneGain()
    room = (RANDOM.standard_normal(16_000) * 1e-5).astype(np.float32)
    through(gain, np.concatenate([room, at(-60.0), at(-60.0)]))
    assert gain.gain_db > 20.0
    heard = through(gain, at(-22.0))
    assert np.abs(heard).max() < 0.95
    assert np.array_equal(heard[16_000:], at(-22.0)[16_000 : len(heard)])


def test_who_comes_closer_is_not_too_loud():
    gain = MicrophoneGain()
    room = (RANDOM.standard_normal(16_000) * 1e-5).astype(np.float32)
    through(gain, np.concatenate([room, at(-60.0)]))
    assert gain.gain_db > 20.0
    heard = through(gain, at(-22.0))
    assert gain.gain_db == 0.0
    assert np.array_equal(heard[-16_000:], at(-22.0)[len(heard) - 16_000 : len(heard)])


def test_a_microphone_that_gives_only_zeros_is_told():
    gain = MicrophoneGain()
    through(gain, np.zeros(16_000 * 9, dtype=np.float32))
    assert gain.hint("Mic") is None
    through(gain, np.zeros(16_000 * 2, dtype=np.float32))
    assert "'Mic' gives nothing but silence: is it muted" in (gain.hint("Mic") or "")
