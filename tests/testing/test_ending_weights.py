"""Random weights that end: how long a text is spoken, in each layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.testing.ending_weights import FRAMES_A_BYTE, frames_of_tokens
from s2s.testing.patches import Patch, RandomTensor
from s2s.testing.random_checkpoint import blocks, write_checkpoint
from s2s.testing.random_tensors import SPECIAL_TOKENS
from s2s.tts.qwen3 import DevicePlacements, Qwen3Model, Reference, Request, open_model

TEXTS = (
    "Hello there.",
    "The quick brown fox jumps over the lazy dog, and then the other one.",
    "你好，今天天气怎么样？我们一起去公园吧。",
    "We will see that it is done by the end of the week, and I do not know what they are doing; "
    "but then again, who knows what comes after that, or before, or never at all.",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Qwen3Model:
    home = tmp_path_factory.mktemp("ends")
    folder = write_checkpoint(home / "checkpoint", "0.6b-customvoice", ends=True)
    return open_model(
        folder,
        home,
        quant="int8",
        placement=DevicePlacements(talker="onnx", predictor="onnx", codec="onnx"),
    )


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_speech_ends_when_its_text_is_said(model: Qwen3Model, text: str, streaming: bool) -> None:
    wanted = FRAMES_A_BYTE * len(text.encode())
    speech = model.speak(Request(text, speaker="ryan", streaming=streaming))
    for _ in speech.chunks:
        pass
    assert speech.report.stop_reason is not None
    assert speech.report.stop_reason.name == "END"
    assert 0.8 * wanted <= speech.report.frames <= 1.35 * wanted + 8


def test_special_tokens_in_the_vocabulary_of_a_full_size_count_nothing() -> None:
    """`<tts_pad>` stands beside every frame after the text: counted, speech never ended."""
    vocabulary = {"assistant": 0, "Hello": 1, "<": 2}
    vocabulary |= {token: 3 + at for at, token in enumerate(SPECIAL_TOKENS)}
    frames = frames_of_tokens(vocabulary, 60)
    expected = np.zeros(60, np.float32)
    expected[1:3] = 5 * FRAMES_A_BYTE, FRAMES_A_BYTE
    np.testing.assert_array_equal(frames, expected)


def test_a_clone_ends_too(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "checkpoint", "1.7b-base", ends=True)
    placement = DevicePlacements(talker="onnx", predictor="onnx", codec="onnx")
    model = open_model(folder, tmp_path, quant="int8", placement=placement)
    vector = np.zeros(model.spec.talker.hidden, np.float32)
    speech = model.speak(Request(TEXTS[1], reference=Reference(vector)))
    for _ in speech.chunks:
        pass
    wanted = FRAMES_A_BYTE * len(TEXTS[1])
    assert 0.8 * wanted <= speech.report.frames <= 1.35 * wanted + 8


def test_a_patch_reaches_across_blocks() -> None:
    shape = (64, 1024)
    column = Patch.column(shape, 3, np.arange(64))
    row, cell = Patch.row(shape, 7, 2.0), Patch.cell(shape, (7, 3), -1.0)
    tensor = RandomTensor("t", shape, 1.0, patches=(column, row, cell))
    whole = np.concatenate(list(blocks(tensor, 0, block=1000))).reshape(shape)
    plain = np.concatenate(list(blocks(RandomTensor("t", shape, 1.0), 0, block=1000)))
    changed = whole != plain.reshape(shape)
    expected = np.zeros(shape, bool)
    expected[:, 3] = expected[7] = True
    assert (changed <= expected).all()
    assert whole[7, 3] == -1
    assert (whole[7, 4:] == 2).all()
    assert (np.delete(whole[:, 3], 7) == np.delete(np.arange(64), 7)).all()
