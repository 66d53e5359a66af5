"""Latency from a recording alone, as a listener with a stopwatch would take it."""

from __future__ import annotations

import numpy as np

from s2s.bench.recording import SpokenSpan, answers, speech_end


def sound(rate_hz: int, seconds: float, *spans: tuple[float, float]) -> np.ndarray:
    audio = np.zeros(round(rate_hz * seconds), np.float32)
    for start_s, end_s in spans:
        audio[round(rate_hz * start_s) : round(rate_hz * end_s)] = 0.5
    return audio


def test_speech_ends_with_its_last_audible_sample() -> None:
    assert speech_end(sound(16_000, 1.0, (0.1, 0.4))) == 6_400
    assert speech_end(np.full(100, 0.005, np.float32)) == 0
    assert speech_end(np.zeros(0, np.float32)) == 0


def test_an_answer_is_timed_from_the_last_sound_to_the_first() -> None:
    said = [SpokenSpan(0, 16_000, "one"), SpokenSpan(48_000, 64_000, "two")]
    first, second = answers(said, sound(24_000, 6.0, (1.5, 2.0), (3.5, 3.6)), 24_000)
    assert first.latency_ms == 500.0
    assert not first.cut_off
    assert second.latency_ms is None
    assert second.cut_off


def test_silence_is_no_answer() -> None:
    [only] = answers([SpokenSpan(0, 16_000)], np.zeros(24_000, np.float32), 24_000)
    assert only.latency_ms is None
    assert not only.cut_off
