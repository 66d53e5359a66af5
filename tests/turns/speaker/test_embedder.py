"""What the speaker network is given, against its definition; and what it makes of two people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.arrays import Floats
from s2s.core.audio import Block, read_wav
from s2s.models.resources import Resources
from s2s.turns.speaker.embedder import FRAMES, MELS, SpeakerEmbedder, log_mel

DATA = Path(__file__).resolve().parents[2] / "data"
HZ, FFT, WINDOW, HOP = 16_000, 512, 400, 160


def to_mel(hz: float) -> float:
    """Slaney's scale: linear to 1 kHz, 27 bands for each factor of 6.4 beyond."""
    return 3 * hz / 200 if hz < 1000 else 15 + 27 * np.log(hz / 1000) / np.log(6.4)


def to_hz(mel: float) -> float:
    return 200 * mel / 3 if mel < 15 else 1000 * 6.4 ** ((mel - 15) / 27)


def by_definition(audio: Block) -> Floats:
    """The features one number after another: a Fourier sum, triangles of area 1, a logarithm."""
    edges = [to_hz(to_mel(HZ / 2) * each / (MELS + 1)) for each in range(MELS + 2)]
    bins = np.arange(FFT // 2 + 1)
    waves = np.exp(-2j * np.pi * np.outer(bins, np.arange(FFT)) / FFT)
    window = np.zeros(FFT)
    first = (FFT - WINDOW) // 2
    for each in range(WINDOW):
        window[first + each] = 0.54 - 0.46 * np.cos(2 * np.pi * each / WINDOW)
    rows: list[list[float]] = []
    for start in range(0, len(audio) - FFT + 1, HOP):
        power = np.abs(waves @ (audio[start : start + FFT] * window)) ** 2
        row: list[float] = []
        for low, middle, high in zip(edges, edges[1:], edges[2:], strict=False):
            band = 0.0
            for number, each in enumerate(power):
                hz = number * HZ / FFT
                share = min((hz - low) / (middle - low), (high - hz) / (high - middle))
                band += max(0.0, share) * 2 / (high - low) * float(each)
            row.append(float(np.log10(band + 1e-6)))
        rows.append(row)
    return np.array(rows, dtype=np.float32)


def test_features_are_those_of_the_definition() -> None:
    random = np.random.default_rng(0)
    audio = (0.1 * random.standard_normal(2_000)).astype(np.float32)
    audio[:800] *= 1e-3  # nearly silent: the floor is seen
    expected = by_definition(audio)
    assert expected.shape == (10, MELS)
    np.testing.assert_allclose(log_mel(audio), expected, atol=2e-4)


def test_too_little_sound_is_one_look() -> None:
    assert log_mel(np.zeros(10, dtype=np.float32)).shape == (1, MELS)
    np.testing.assert_allclose(log_mel(np.zeros(10, dtype=np.float32)), -6.0, atol=1e-5)


@pytest.fixture(scope="module")
def embedder(resources: Resources) -> SpeakerEmbedder:
    return SpeakerEmbedder(resources.store.path("speaker-dvector"), "speaker-dvector")


@pytest.mark.models("speaker-dvector")
def test_vectors_have_length_one_and_are_the_same_again(embedder: SpeakerEmbedder) -> None:
    features = np.random.default_rng(1).standard_normal((2 * FRAMES, MELS)).astype(np.float32)
    looks = embedder.windows(features)
    assert looks.shape == (3, 256)
    np.testing.assert_allclose(np.linalg.norm(looks, axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(looks, embedder.windows(features))


@pytest.mark.models("speaker-dvector")
def test_a_voice_is_more_like_itself_than_like_another(
    embedder: SpeakerEmbedder, librivox: dict[str, tuple[Block, str]]
) -> None:
    reader = embedder.embed(librivox["librivox_0870"][0])
    goforward = read_wav(DATA / "goforward.wav", HZ)[0]
    for name in ("librivox_0890", "librivox_0920"):
        same = float(reader @ embedder.embed(librivox[name][0]))
        assert same > float(reader @ embedder.embed(goforward)) + 0.2
