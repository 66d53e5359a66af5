"""The codec decoder of a folder, on whatever is to compute it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.backends import BACKENDS
from s2s.tts.qwen3.codec import open as open_module
from s2s.tts.qwen3.codec.open import codec_here, codecs_here, open_decoder, opened_here
from s2s.tts.qwen3.errors import CheckpointError, Qwen3Error
from s2s.tts.qwen3.native.codec import NativeCodecDecoder
from s2s.tts.qwen3.onnx.codec import OnnxCodecDecoder

Tiny = Callable[[str], Path]


def test_the_placement_says_what_decodes(
    tiny_qwen3: Tiny, tmp_path: Path, kernel_cache: Path
) -> None:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    kinds = {"onnx": OnnxCodecDecoder, "native": NativeCodecDecoder}
    codes = np.arange(32).reshape(2, 16)
    sounds = []
    for placement, kind in kinds.items():
        decoder = open_decoder(folder, tmp_path, placement=placement, kernels=kernel_cache)
        assert isinstance(decoder, kind)
        sounds.append(decoder.decode(decoder.new_state(), codes))
    np.testing.assert_allclose(sounds[0], sounds[1], atol=1e-4)


def test_the_fastest_codec_is_taken_where_all_were_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(open_module, "codecs_here", lambda: ["native", "onnx"])
    assert codec_here({}) == "native"
    assert codec_here({"onnx": 1.0}) == "native"
    assert codec_here({"onnx": 1.0, "native": 2.0}) == "onnx"


def test_what_decodes_here_is_asked_of_the_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(BACKENDS[0].codec), "missing", lambda _: "no compiler")
    assert BACKENDS[0].name not in codecs_here()
    assert "onnx" in codecs_here()


def test_a_folder_that_lacks_a_tensor_is_refused_before_anything_is_built(
    tiny_qwen3: Tiny, tmp_path: Path
) -> None:
    folder = tmp_path / "speech_tokenizer"
    shutil.copytree(tiny_qwen3("0.6b-base") / "speech_tokenizer", folder)
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes().replace(b"decoder.pre_conv", b"decoder.pre_cons"))
    with pytest.raises(CheckpointError, match="pre_conv"):
        open_decoder(folder, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_placement_that_cannot_decode_is_refused(tiny_qwen3: Tiny, tmp_path: Path) -> None:
    with pytest.raises(Qwen3Error, match="ggml"):
        open_decoder(tiny_qwen3("0.6b-base") / "speech_tokenizer", tmp_path, placement="ggml")


class Remarking:
    """A decoder that says where it computes."""

    def __init__(self, name: str, remark: str) -> None:
        self.name, self.remark = name, remark


@pytest.mark.parametrize(
    ("remark", "placement"), [("", "fixed@cuda"), ("codec on the processor: no cuDNN", "native")]
)
def test_a_graphics_card_decodes_by_itself_or_the_reason_is_kept(
    remark: str, placement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_module, "codecs_here", lambda: ["fixed@cuda", "native", "onnx"])
    monkeypatch.setattr(open_module, "cards_of_onnxruntime", lambda: ("fixed@cuda",))

    def opened(name: str) -> Remarking:
        return Remarking(name, remark if "@" in name else "")

    found = opened_here({}, opened)  # type: ignore[arg-type]
    assert (found.placement, found.refused) == (placement, remark)
    assert isinstance(found.decoder, Remarking)
    assert found.decoder.name == placement
