"""Steady noise in the microphone: what the suppressor takes out, and what it leaves."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.audio import PIPELINE_HZ, Block, rms_db
from s2s.transport.noise import NoiseError, NoiseSuppressor

pytest.importorskip("pywebrtc_audio")


def noise(seconds: float, level: float = 0.02, seed: int = 1) -> Block:
    random = np.random.default_rng(seed)
    return (level * random.standard_normal(int(seconds * PIPELINE_HZ))).astype(np.float32)


def suppressed(audio: Block, sizes: list[int]) -> Block:
    suppressor, out, start = NoiseSuppressor(), [], 0
    while start < len(audio):
        size = sizes[len(out) % len(sizes)]
        out.append(suppressor.process(audio[start : start + size]))
        start += size
    return np.concatenate(out)


def test_steady_noise_becomes_quieter() -> None:
    audio = noise(4.0)
    left = suppressed(audio, [512])
    assert rms_db(left[-PIPELINE_HZ:]) < rms_db(audio) - 6.0


def test_a_voice_stays_where_it_was_and_as_loud(librivox: dict[str, tuple[Block, str]]) -> None:
    speech = librivox["librivox_0890"][0]
    left = suppressed(np.pad(speech, (0, 512)), [512])[NoiseSuppressor.latency_samples :]
    left = left[: len(speech)]
    assert rms_db(left) == pytest.approx(rms_db(speech), abs=2.0)
    shifts = range(-160, 161, 40)
    likeness = [float(np.dot(np.roll(left, shift), speech)) for shift in shifts]
    assert abs(shifts[int(np.argmax(likeness))]) <= 120, "WebRTC's filters add a few milliseconds"


@settings(max_examples=20)
@given(st.lists(st.integers(1, 700), min_size=1, max_size=8))
def test_any_split_into_blocks_gives_the_same_samples(sizes: list[int]) -> None:
    audio = noise(0.5)
    np.testing.assert_array_equal(suppressed(audio, sizes), suppressed(audio, [512]))


def test_silence_stays_silence() -> None:
    assert not suppressed(np.zeros(PIPELINE_HZ, dtype=np.float32), [512]).any()


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pywebrtc_audio", None)
    with pytest.raises(NoiseError, match=r"pip install 's2s\[echo\]'"):
        NoiseSuppressor()
