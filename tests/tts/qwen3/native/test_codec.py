"""Codes to sound on the kernel: the official sound, the same bits in every split."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.interfaces import Stopped
from s2s.tts.qwen3.native.library import BUILD_VARIABLE, load_kernel

GOLDEN = Path(__file__).parents[3] / "data" / "qwen3" / "codec_decoder.npz"


Tiny = Callable[[str], Path]


@pytest.fixture(scope="module")
def folder(tiny_qwen3: Tiny) -> Path:
    return tiny_qwen3("0.6b-base") / "speech_tokenizer"


def snr_db(expected: np.ndarray, found: np.ndarray) -> float:
    wanted = expected.astype(np.float64)
    noise = max(float(np.mean((found - wanted) ** 2)), 1e-30)
    return float(10 * np.log10(np.mean(wanted**2) / noise))


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("codec")


@pytest.fixture(scope="module")
def native(folder: Path, graphs: Path, kernel_cache: Path) -> CheckpointDecoder:
    return open_decoder(folder, graphs, threads=2, placement="native", kernels=kernel_cache)


@pytest.fixture(scope="module")
def onnx(folder: Path, graphs: Path) -> CheckpointDecoder:
    return open_decoder(folder, graphs)


@pytest.fixture(scope="module")
def codes(native: CheckpointDecoder) -> np.ndarray:
    return np.random.default_rng(2).integers(0, native.codebook_size, (90, 16))


def test_it_sounds_as_on_onnx_runtime(
    native: CheckpointDecoder, onnx: CheckpointDecoder, codes: np.ndarray
) -> None:
    expected = onnx.decode(onnx.new_state(), codes)
    sound = native.decode(native.new_state(), codes)
    assert sound.dtype == np.float32
    assert np.abs(sound - expected).max() < 1e-5
    assert snr_db(expected, sound) > 100


def test_it_is_the_official_full_window_forward(native: CheckpointDecoder) -> None:
    """Against the official package, far beyond the attention window."""
    with np.load(GOLDEN) as golden:
        codes, frames, pcm = golden["codes"], golden["kept_frames"], golden["pcm"]
    sound = native.decode(native.new_state(), codes.astype(np.int64)).reshape(len(codes), -1)
    np.testing.assert_allclose(sound[frames], pcm, rtol=0, atol=1e-4)


@settings(max_examples=12, deadline=None)
@given(sizes=st.lists(st.integers(1, 30), min_size=1, max_size=8))
def test_decoding_in_any_split_changes_no_bit(
    native: CheckpointDecoder, codes: np.ndarray, sizes: list[int]
) -> None:
    expected = native.decode(native.new_state(), codes)
    ends = np.cumsum(np.resize(sizes, len(codes)))
    state = native.new_state()
    parts = np.split(codes, ends[ends < len(codes)])
    sound = np.concatenate([native.decode(state, part) for part in parts])
    assert state.position == len(codes)
    np.testing.assert_array_equal(sound, expected)


def test_each_takes_the_other_ones_states(
    native: CheckpointDecoder, onnx: CheckpointDecoder, codes: np.ndarray
) -> None:
    for frames in (0, 5, 80):
        for giver, taker in ((native, onnx), (onnx, native)):
            state = giver.new_state()
            if frames:
                giver.decode(state, codes[:frames])
            taken = taker.restore(giver.export(state), frames)
            expected = giver.decode(state, codes[frames : frames + 6])
            sound = taker.decode(taken, codes[frames : frames + 6])
            assert snr_db(expected, sound) > 100


def test_a_fork_goes_its_own_way(native: CheckpointDecoder, codes: np.ndarray) -> None:
    warm = native.new_state()
    native.decode(warm, codes[:7])
    expected = native.decode(native.fork(warm), codes[7:12])
    native.decode(native.fork(warm), codes[20:30])
    np.testing.assert_array_equal(native.decode(warm, codes[7:12]), expected)


def test_wrong_codes_and_states_are_refused(native: CheckpointDecoder, codes: np.ndarray) -> None:
    state = native.new_state()
    native.decode(state, codes[:3])
    with pytest.raises(ValueError, match="frames, 16"):
        native.decode(state, codes[:, :15])
    with pytest.raises(ValueError, match="0 to"):
        native.decode(state, codes - native.codebook_size)
    assert state.position == 3
    tensors = native.export(state)
    del tensors["state.unit_2_1"]
    with pytest.raises(ValueError, match=r"state\.unit_2_1 should be \(18, "):
        native.restore(tensors, 3)
    state.close()
    with pytest.raises(ValueError, match="closed"):
        native.decode(state, codes[:1])


def test_without_a_compiler_there_is_none(
    folder: Path, graphs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_kernel.cache_clear()
    monkeypatch.setenv(BUILD_VARIABLE, "1")  # whether a wheel is installed or not
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(KernelError, match="no C compiler"):
        open_decoder(folder, graphs, placement="native", kernels=tmp_path)


@pytest.mark.parametrize("placement", ["native", "onnx"])
def test_a_stale_call_ends_within_it(
    placement: str, folder: Path, graphs: Path, kernel_cache: Path
) -> None:
    """And what is decoded afterwards is what it would have been."""
    decoder = open_decoder(folder, graphs, threads=2, placement=placement, kernels=kernel_cache)
    codes = np.random.default_rng(5).integers(0, decoder.codebook_size, (8, 16))
    expected = decoder.decode(decoder.new_state(), codes)
    asked = 0

    def stale() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with pytest.raises(Stopped):
        decoder.decode(decoder.new_state(), codes, stale)
    assert asked == 4
    np.testing.assert_array_equal(
        decoder.decode(decoder.new_state(), codes, lambda: False), expected
    )
