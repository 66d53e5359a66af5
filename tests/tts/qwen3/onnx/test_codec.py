"""The codec decoder against the official package, and against itself under every split."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.qwen3.onnx import codec as codec_decoder
from s2s.tts.qwen3.onnx.codec import GraphPart, OnnxCodecDecoder
from tests.tts.qwen3.tiny_codec import GOLDEN_CODEC, golden_codes, open_codec

TOLERANCE = 1e-4


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


@pytest.fixture(scope="module")
def whole(decoder: OnnxCodecDecoder, codes: np.ndarray) -> np.ndarray:
    """All frames through the graph in one run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec_decoder, "MAX_FRAMES_A_RUN", len(codes))
        return decoder.decode(decoder.new_state(), codes)


def decode_split(decoder: OnnxCodecDecoder, codes: np.ndarray, sizes: list[int]) -> np.ndarray:
    """Frames in calls of the given sizes, over and over until all are decoded."""
    state, parts, start, call = decoder.new_state(), [], 0, 0
    while start < len(codes):
        size = sizes[call % len(sizes)]
        parts.append(decoder.decode(state, codes[start : start + size]))
        assert len(parts[-1]) == len(codes[start : start + size]) * decoder.samples_per_frame
        start, call = start + size, call + 1
    assert state.position == len(codes)
    return np.concatenate(parts)


def test_one_run_is_the_official_full_window_forward(
    decoder: OnnxCodecDecoder, whole: np.ndarray
) -> None:
    with np.load(GOLDEN_CODEC) as golden:
        frames, expected = golden["kept_frames"], golden["pcm"]
    assert decoder.samples_per_frame == 1920
    assert len(whole) == 600 * 1920
    assert expected.std() > 0.05
    np.testing.assert_allclose(whole.reshape(600, -1)[frames], expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(
    "sizes",
    [[1, 2, 3, 5, 7, 11, 13, 17, 19, 23], [73, 1, 97], [590, 10], [25], [8]],
    ids=["primes", "longer than the window", "longer than the reach", "25", "8"],
)
def test_any_split_gives_the_sound_of_one_run(
    decoder: OnnxCodecDecoder, codes: np.ndarray, whole: np.ndarray, sizes: list[int]
) -> None:
    split = decode_split(decoder, codes, sizes)
    np.testing.assert_allclose(split, whole, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("run", [73, 590])
def test_runs_longer_than_the_window_and_the_reach(
    decoder: OnnxCodecDecoder,
    codes: np.ndarray,
    whole: np.ndarray,
    run: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codec_decoder, "MAX_FRAMES_A_RUN", run)
    split = decode_split(decoder, codes, [600])
    np.testing.assert_allclose(split, whole, rtol=0, atol=TOLERANCE)


def test_one_frame_a_call(decoder: OnnxCodecDecoder, codes: np.ndarray, whole: np.ndarray) -> None:
    split = decode_split(decoder, codes[:160], [1])
    np.testing.assert_allclose(split, whole[: len(split)], rtol=0, atol=TOLERANCE)


@settings(max_examples=12, deadline=None)
@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12), start=st.integers(0, 500))
def test_random_splits(
    decoder: OnnxCodecDecoder, codes: np.ndarray, sizes: list[int], start: int
) -> None:
    part = codes[start : start + 90]
    expected = decoder.decode(decoder.new_state(), part)
    split = decode_split(decoder, part, sizes)
    np.testing.assert_allclose(split, expected, rtol=0, atol=TOLERANCE)


def test_state_stays_as_large_as_the_window(decoder: OnnxCodecDecoder, codes: np.ndarray) -> None:
    state = decoder.new_state()
    decoder.decode(state, codes[:150])
    shapes = {name: array.shape for name, array in decoder.export(state).items()}
    decoder.decode(state, codes[150:300])
    assert shapes == {name: array.shape for name, array in decoder.export(state).items()}
    assert shapes["state.key_0"][1] == 71


def test_a_long_call_runs_in_bounded_pieces(
    decoder: OnnxCodecDecoder, codes: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    run = GraphPart.run

    def counted(self: GraphPart, inputs, state, after) -> np.ndarray:
        if "codes" in inputs:  # of the first graph
            sizes.append(len(inputs["codes"]))
        return run(self, inputs, state, after)

    monkeypatch.setattr(GraphPart, "run", counted)
    decoder.decode(decoder.new_state(), codes[:100])
    assert sum(sizes) == 100
    assert max(sizes) <= codec_decoder.MAX_FRAMES_A_RUN


def test_a_primed_voice_continues_at_the_sample_after_its_reference(
    decoder: OnnxCodecDecoder, codes: np.ndarray
) -> None:
    """The official way decodes reference and speech together and cuts ref_len * 1920 samples."""
    reference, speech = codes[:37], codes[37:60]
    together = decoder.decode(decoder.new_state(), codes[:60])[37 * 1920 :]
    warm = decoder.new_state()
    decoder.decode(warm, reference)
    for _ in range(2):  # a fork leaves the warm-start state as it was
        sound = decode_split_from(decoder, decoder.fork(warm), speech)
        np.testing.assert_allclose(sound, together, rtol=0, atol=TOLERANCE)
    assert warm.position == 37
    cold = decoder.decode(decoder.new_state(), speech)
    assert np.abs(cold - together).max() > 0.05


def decode_split_from(decoder: OnnxCodecDecoder, state, codes: np.ndarray) -> np.ndarray:
    return np.concatenate([decoder.decode(state, part) for part in np.array_split(codes, 5)])


def test_two_threads_give_the_same_sound(
    decoder: OnnxCodecDecoder, folder: Path, cache: Path, codes: np.ndarray
) -> None:
    two = open_codec(folder, cache, threads=2)
    before = threading.enumerate()
    sound = decode_split(two, codes[:40], [1, 2, 17])
    expected = decoder.decode(decoder.new_state(), codes[:40])
    np.testing.assert_allclose(sound, expected, rtol=0, atol=TOLERANCE)
    assert threading.enumerate() == before


def test_streams_at_once_do_not_touch_each_other(
    folder: Path, cache: Path, codes: np.ndarray
) -> None:
    decoder = open_codec(folder, cache, threads=2)
    streams = [codes[at : at + 30] for at in (0, 100, 200)]
    alone = [decode_split(decoder, stream, [3]) for stream in streams]
    with ThreadPoolExecutor(len(streams)) as pool:
        together = pool.map(lambda stream: decode_split(decoder, stream, [3]), streams)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_failure_inside_leaves_the_state_where_it_was(
    folder: Path, cache: Path, codes: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = open_codec(folder, cache, threads=2)
    state = decoder.new_state()
    first = decoder.decode(state, codes[:3])

    run = GraphPart.run

    def broken(self: GraphPart, inputs, state, after) -> np.ndarray:
        if threading.current_thread() is not threading.main_thread():  # the last of the graphs
            raise RuntimeError("out of memory")
        return run(self, inputs, state, after)

    with monkeypatch.context() as patch:
        patch.setattr(GraphPart, "run", broken)
        with pytest.raises(RuntimeError, match="out of memory"):
            decoder.decode(state, codes[3:6])
    second = decoder.decode(state, codes[3:6])
    expected = decoder.decode(decoder.new_state(), codes[:6])
    np.testing.assert_allclose(np.concatenate([first, second]), expected, rtol=0, atol=TOLERANCE)
