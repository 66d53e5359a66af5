"""What every codec decoder does with codes and states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.onnx.codec import OnnxCodecDecoder
from tests.tts.qwen3.tiny_codec import golden_codes, open_codec

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


@pytest.fixture(scope="module")
def codes() -> np.ndarray:
    return golden_codes()


def test_exported_states_come_back(decoder: OnnxCodecDecoder, codes: np.ndarray) -> None:
    for frames in (5, 90):
        state = decoder.new_state()
        decoder.decode(state, codes[:frames])
        restored = decoder.restore(decoder.export(state), frames)
        following = codes[frames : frames + 4]
        np.testing.assert_array_equal(
            decoder.decode(state, following), decoder.decode(restored, following)
        )


def test_a_state_of_something_else_is_refused(decoder: OnnxCodecDecoder) -> None:
    tensors = decoder.export(decoder.new_state())
    with pytest.raises(ValueError, match="not a state"):
        decoder.restore(tensors, 3)
    del tensors["state.input"]
    with pytest.raises(ValueError, match=r"state\.input"):
        decoder.restore(tensors, 0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros((0, 16), np.int64), "at least one frame"),
        (np.zeros((4, 15), np.int64), "frames, 16"),
        (np.zeros(16, np.int64), "frames, 16"),
        (np.full((2, 16), 64, np.int64), "0 to 63"),
        (np.full((2, 16), -1, np.int64), "0 to 63"),
    ],
)
def test_wrong_codes_are_refused_and_change_nothing(
    decoder: OnnxCodecDecoder, codes: np.ndarray, wrong: np.ndarray, message: str
) -> None:
    state = decoder.new_state()
    decoder.decode(state, codes[:3])
    with pytest.raises(ValueError, match=message):
        decoder.decode(state, wrong)
    assert state.position == 3


def test_a_closed_state_is_refused(decoder: OnnxCodecDecoder, codes: np.ndarray) -> None:
    state = decoder.new_state()
    state.close()
    state.close()
    with pytest.raises(ValueError, match="closed"):
        decoder.decode(state, codes[:1])
