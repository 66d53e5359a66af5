"""The graphs of the codec decoder: built once from tensors that fit, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.codec_spec import CodecSpec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_json
from s2s.tts.qwen3.errors import CodecError
from s2s.tts.qwen3.onnx.codec import OnnxCodecDecoder
from tests.tts.qwen3.tiny_codec import open_codec

Tiny = Callable[[str], Path]


@pytest.fixture(scope="module")
def folder(tiny_qwen3: Tiny) -> Path:
    return tiny_qwen3("0.6b-base") / "speech_tokenizer"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("codec")


@pytest.fixture(scope="module")
def decoder(folder: Path, cache: Path) -> OnnxCodecDecoder:
    return open_codec(folder, cache)


class Altered:
    """A checkpoint with one tensor replaced."""

    def __init__(self, folder: Path, name: str, tensor: np.ndarray) -> None:
        self._checkpoint, self._name, self._tensor = Checkpoint(folder), name, tensor

    def __getitem__(self, name: str) -> np.ndarray:
        return self._tensor if name == self._name else self._checkpoint[name]


def test_a_tensor_of_the_wrong_shape_is_named_and_leaves_nothing(
    folder: Path, tmp_path: Path
) -> None:
    spec = CodecSpec.from_config(read_json(folder / "config.json"))
    name = "decoder.upsample.1.0.conv.weight"
    tensors = Altered(folder, name, np.zeros((64, 64, 3), np.float32))
    with pytest.raises(CodecError, match=rf"{name}.*\[64, 64, 3\].*\[64, 64, 2\]"):
        OnnxCodecDecoder.open(spec.decoder, tensors, tmp_path, "bad")
    assert list(tmp_path.iterdir()) == []


def test_the_graph_is_built_once(folder: Path, cache: Path, decoder: OnnxCodecDecoder) -> None:
    class Unread:
        def __getitem__(self, name: str) -> np.ndarray:
            raise AssertionError(f"{name} was read again")

    spec = CodecSpec.from_config(read_json(folder / "config.json"))
    OnnxCodecDecoder.open(spec.decoder, Unread(), cache, "tiny")
    with pytest.raises(AssertionError, match="read again"):
        OnnxCodecDecoder.open(spec.decoder, Unread(), cache, "other")


def test_usage_below_the_floor_is_clamped(folder: Path, tmp_path: Path) -> None:
    """A code vector nobody uses is divided by 1e-5, not by zero."""
    spec = CodecSpec.from_config(read_json(folder / "config.json"))
    name = "decoder.quantizer.rvq_first.vq.layers.0._codebook"
    usage = Checkpoint(folder)[f"{name}.cluster_usage"].copy()
    usage[3] = 0.0
    decoder = OnnxCodecDecoder.open(
        spec.decoder, Altered(folder, f"{name}.cluster_usage", usage), tmp_path, "clamped"
    )
    sound = decoder.decode(decoder.new_state(), np.full((3, 16), 3, np.int64))
    assert np.isfinite(sound).all()
