"""The codec encoder against the official package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import read_wav
from s2s.tts.qwen3.checkpoint.codec_spec import CodecSpec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_json
from s2s.tts.qwen3.errors import CodecError
from s2s.tts.qwen3.voices import codec_encoder
from s2s.tts.qwen3.voices.codec_encoder import OnnxCodecEncoder

DATA = Path(__file__).parents[3] / "data"
SPOKEN = {
    "short": ["librivox_0880"],
    "uneven": ["librivox_0870"],
    "long": ["librivox_0870", "librivox_0890", "librivox_0920"],
}
EQUAL_SHARE = 0.99

Tiny = Callable[[str], Path]


@pytest.fixture(scope="module")
def encoder(tiny_qwen3: Tiny, tmp_path_factory: pytest.TempPathFactory) -> OnnxCodecEncoder:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    spec = CodecSpec.from_config(read_json(folder / "config.json"))
    cache = tmp_path_factory.mktemp("codec")
    return OnnxCodecEncoder.open(spec.encoder, Checkpoint(folder), cache, "tiny")


def recording(names: list[str]) -> np.ndarray:
    return np.concatenate([read_wav(DATA / f"{name}.wav", 24_000)[0] for name in names])


def golden(name: str) -> np.ndarray:
    with np.load(DATA / "qwen3" / "codec_encoder.npz") as arrays:
        return arrays[name]


@pytest.mark.parametrize("name", list(SPOKEN))
def test_codes_of_recordings_are_the_official_ones(encoder: OnnxCodecEncoder, name: str) -> None:
    pcm, expected = recording(SPOKEN[name]), golden(name)
    codes = encoder.encode(pcm)
    assert codes.dtype == np.int64
    assert codes.shape == expected.shape == (-(-len(pcm) // 1920), 16)
    assert np.mean(codes == expected) >= EQUAL_SHARE


def test_the_golden_recordings_tell_codes_apart() -> None:
    """A constant answer would fail: no group of codes is the same in every frame of speech."""
    assert (np.ptp(golden("long"), axis=0) > 0).all()
    assert golden("long").shape[0] * 2 > 250  # longer than the window in Mimi's config


def test_less_than_a_frame(encoder: OnnxCodecEncoder) -> None:
    codes = encoder.encode(recording(SPOKEN["short"])[:1200])
    np.testing.assert_array_equal(codes, golden("tiny"))
    assert encoder.encode(np.zeros(1, np.float32)).shape == (1, 16)


@pytest.mark.parametrize("chunk_frames", [1, 7, 1000])
def test_the_size_of_the_chunks_does_not_matter(
    encoder: OnnxCodecEncoder, chunk_frames: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec_encoder, "CHUNK_FRAMES", chunk_frames)
    codes = encoder.encode(recording(SPOKEN["uneven"]))
    assert np.mean(codes == golden("uneven")) >= EQUAL_SHARE


@pytest.mark.parametrize(
    ("pcm", "message"),
    [
        (np.zeros(0, np.float32), "samples"),
        (np.zeros((2, 100), np.float32), "samples"),
        (np.array([0.0, np.nan], np.float32), "finite"),
    ],
)
def test_what_is_no_recording_is_refused(
    encoder: OnnxCodecEncoder, pcm: np.ndarray, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        encoder.encode(pcm)


def test_another_kind_of_tokenizer_is_named(tiny_qwen3: Tiny) -> None:
    config = dict(read_json(tiny_qwen3("0.6b-base") / "speech_tokenizer" / "config.json"))
    with pytest.raises(CodecError, match="qwen3_tts_tokenizer_25hz"):
        CodecSpec.from_config(config | {"model_type": "qwen3_tts_tokenizer_25hz"})
    with pytest.raises(CodecError, match=r"decode_upsample_rate is 1280.*1920"):
        CodecSpec.from_config(config | {"decode_upsample_rate": 1280})
    with pytest.raises(CodecError, match="encoder_config is missing"):
        CodecSpec.from_config(config | {"encoder_config": None})
    encoder = dict(config["encoder_config"])  # type: ignore[call-overload]
    with pytest.raises(CodecError, match="use_causal_conv is False"):
        CodecSpec.from_config(config | {"encoder_config": encoder | {"use_causal_conv": False}})
    decoder = dict(config["decoder_config"])  # type: ignore[call-overload]
    with pytest.raises(CodecError, match="sliding_window must be a whole number"):
        CodecSpec.from_config(config | {"decoder_config": decoder | {"sliding_window": None}})
