"""Mel front end and speaker encoder against the official package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import read_wav
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_json
from s2s.tts.qwen3.errors import CodecError
from s2s.tts.qwen3.voices.mel import MIN_SAMPLES, log_mel
from s2s.tts.qwen3.voices.speaker_encoder import OnnxSpeakerEncoder, SpeakerEncoderSpec

DATA = Path(__file__).parents[3] / "data"


RECORDINGS = {"short": "librivox_0880", "uneven": "librivox_0870"}


Tiny = Callable[[str], Path]


Open = Callable[[str], OnnxSpeakerEncoder]


@pytest.fixture(scope="module")
def open_encoder(tiny_qwen3: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Open:
    cache = tmp_path_factory.mktemp("speaker")

    def open_kind(kind: str) -> OnnxSpeakerEncoder:
        config = read_json(tiny_qwen3(kind) / "config.json")["speaker_encoder_config"]
        spec = SpeakerEncoderSpec.from_config(config)  # type: ignore[arg-type]
        return OnnxSpeakerEncoder.open(spec, Checkpoint(tiny_qwen3(kind)), cache, kind)

    return open_kind


def recording(name: str) -> np.ndarray:
    return read_wav(DATA / f"{RECORDINGS[name]}.wav", 24_000)[0]


def golden(name: str) -> np.ndarray:
    with np.load(DATA / "qwen3" / "speaker_encoder.npz") as arrays:
        return arrays[name]


def test_shortest_recordings() -> None:
    assert log_mel(np.zeros(MIN_SAMPLES, np.float32)).shape == (1, 128)
    with pytest.raises(ValueError, match="385 samples"):
        log_mel(np.zeros(MIN_SAMPLES - 1, np.float32))


@pytest.mark.parametrize("kind", ["0.6b-base", "1.7b-base"])
@pytest.mark.parametrize("name", list(RECORDINGS))
def test_speaker_vector_is_the_official_one(open_encoder: Open, kind: str, name: str) -> None:
    vector, expected = open_encoder(kind).embed(recording(name)), golden(f"{kind}/{name}")
    assert vector.shape == expected.shape
    cosine = vector @ expected / np.linalg.norm(vector) / np.linalg.norm(expected)
    assert cosine >= 0.9999
    # Random weights give every voice nearly the same vector: only its size tells them apart.
    np.testing.assert_allclose(vector, expected, rtol=0, atol=1e-4)
    other = golden(f"{kind}/{'uneven' if name == 'short' else 'short'}")
    assert np.abs(other - expected).max() > 1e-2


@pytest.mark.parametrize(
    ("pcm", "message"),
    [
        (np.zeros(100, np.float32), "385 samples"),
        (np.zeros(1000, np.float32), "too short: it gives 3 mel frames, 5 are needed"),
        (np.full(24_000, np.inf, np.float32), "finite"),
        (np.zeros((24_000, 2), np.float32), "one channel"),
    ],
)
def test_what_is_no_recording_is_refused(open_encoder: Open, pcm: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_encoder("0.6b-base").embed(pcm)


def test_other_front_ends_are_refused() -> None:
    with pytest.raises(CodecError, match="sample_rate is 16000"):
        SpeakerEncoderSpec.from_config({"enc_dim": 64, "sample_rate": 16_000})
    with pytest.raises(CodecError, match="one length"):
        SpeakerEncoderSpec.from_config({"enc_dim": 64, "enc_dilations": [1, 2]})
