"""The codec decoder in graphs of fixed shapes: against the official package, and itself under every
split."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.codec.tensors import state_shapes
from s2s.tts.qwen3.fixed.codec import FixedCodecDecoder
from s2s.tts.qwen3.interfaces import Stopped
from tests.tts.qwen3.tiny_codec import GOLDEN_CODEC, golden_codes, open_codec

TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def folder(tiny_qwen3: Callable[[str], Path]) -> Path:
    return tiny_qwen3("0.6b-base") / "speech_tokenizer"


@pytest.fixture(scope="module")
def decoder(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> FixedCodecDecoder:
    cache = tmp_path_factory.mktemp("codec")
    found = open_decoder(folder, cache, placement="fixed")
    again = open_decoder(folder, cache, placement="fixed@cpu")
    assert isinstance(found, FixedCodecDecoder)
    assert isinstance(again, FixedCodecDecoder)
    assert len(list(cache.iterdir())) == 1, "built once"
    assert found.remark == ""
    return found


@pytest.fixture(scope="module")
def codes() -> np.ndarray:
    return golden_codes()


@pytest.fixture(scope="module")
def whole(decoder: FixedCodecDecoder, codes: np.ndarray) -> np.ndarray:
    return decoder.decode(decoder.new_state(), codes)


def decode_split(decoder: CheckpointDecoder, codes: np.ndarray, sizes: list[int]) -> np.ndarray:
    """Frames in calls of the given sizes, over and over until all are decoded."""
    state, parts, start, call = decoder.new_state(), [], 0, 0
    while start < len(codes):
        size = sizes[call % len(sizes)]
        parts.append(decoder.decode(state, codes[start : start + size]))
        assert len(parts[-1]) == len(codes[start : start + size]) * decoder.samples_per_frame
        start, call = start + size, call + 1
    assert state.position == len(codes)
    return np.concatenate(parts)


def test_it_is_the_official_full_window_forward(
    decoder: FixedCodecDecoder, whole: np.ndarray
) -> None:
    with np.load(GOLDEN_CODEC) as golden:
        frames, expected = golden["kept_frames"], golden["pcm"]
    assert decoder.samples_per_frame == 1920
    assert len(whole) == 600 * 1920
    np.testing.assert_allclose(whole.reshape(600, -1)[frames], expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(
    "sizes", [[1], [1, 2, 3, 5, 7, 11, 13], [8, 4, 2, 1]], ids=["one", "primes", "all graphs"]
)
def test_any_split_gives_the_sound_of_one_call(
    decoder: FixedCodecDecoder, codes: np.ndarray, whole: np.ndarray, sizes: list[int]
) -> None:
    split = decode_split(decoder, codes[:160], sizes)
    np.testing.assert_allclose(split, whole[: len(split)], rtol=0, atol=TOLERANCE)


@settings(max_examples=8, deadline=None)
@given(sizes=st.lists(st.integers(1, 20), min_size=1, max_size=8), start=st.integers(0, 500))
def test_random_splits(
    decoder: FixedCodecDecoder, codes: np.ndarray, sizes: list[int], start: int
) -> None:
    part = codes[start : start + 30]
    expected = decoder.decode(decoder.new_state(), part)
    split = decode_split(decoder, part, sizes)
    np.testing.assert_allclose(split, expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("before", [3, 70, 71, 72, 90])
def test_a_state_goes_from_one_core_to_another_and_back(
    before: int, decoder: FixedCodecDecoder, folder: Path, codes: np.ndarray, whole: np.ndarray,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    """The window is filled up for a run, and kept as everybody keeps it."""
    other = open_codec(folder, tmp_path_factory.getbasetemp() / "other-codec")
    state = decoder.new_state()
    decoder.decode(state, codes[:before])
    kept = decoder.export(state)
    shapes = state_shapes(read_codec_spec(folder).decoder, before)
    assert {name: array.shape for name, array in kept.items()} == shapes
    theirs = other.restore(kept, before)
    parts = [other.decode(theirs, codes[before : before + 3])]
    back = decoder.restore(other.export(theirs), before + 3)
    parts.append(decoder.decode(back, codes[before + 3 : before + 8]))
    expected = whole[before * 1920 : (before + 8) * 1920]
    np.testing.assert_allclose(np.concatenate(parts), expected, rtol=0, atol=TOLERANCE)


def test_a_fork_leaves_the_state_as_it_was(
    decoder: FixedCodecDecoder, codes: np.ndarray, whole: np.ndarray
) -> None:
    warm = decoder.new_state()
    decoder.decode(warm, codes[:37])
    for _ in range(2):
        sound = decoder.decode(decoder.fork(warm), codes[37:44])
        np.testing.assert_allclose(sound, whole[37 * 1920 : 44 * 1920], rtol=0, atol=TOLERANCE)
    assert warm.position == 37


def test_a_stopped_call_leaves_the_state_where_it_was(
    decoder: FixedCodecDecoder, codes: np.ndarray, whole: np.ndarray
) -> None:
    state, asked = decoder.new_state(), iter([False, True])
    with pytest.raises(Stopped):
        decoder.decode(state, codes[:7], lambda: next(asked))
    assert state.position == 0
    sound = decoder.decode(state, codes[:7])
    np.testing.assert_allclose(sound, whole[: 7 * 1920], rtol=0, atol=TOLERANCE)
