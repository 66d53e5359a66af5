"""Frames from phonemes: durations, and noise that does not depend on the pieces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.vits.encoding import LatentFrames, Scales, TokenFrames
from s2s.tts.vits.engine import OneShotEngine, VitsEngine, load_engine
from s2s.tts.vits.errors import SpeechError
from tests.support.vits import voice_folder

IDS = {"_": [0], "^": [1], "$": [2], **{chr(97 + i): [3 + i] for i in range(26)}}


SENTENCE = [1, 0, 5, 0, 9, 0, 4, 0, 12, 0, 2]


Load = Callable[..., VitsEngine]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads a small voice with a config of its own."""

    def loaded(name: str, **fields: object) -> VitsEngine:
        fields = {"phoneme_id_map": IDS, **fields}
        engine = load_engine(voice_folder(tmp_path, name, **fields), threads=1)
        assert isinstance(engine, VitsEngine | OneShotEngine)
        return engine  # type: ignore[return-value]

    return loaded


def test_impossible_durations_are_an_error(load: Load) -> None:
    with pytest.raises(SpeechError, match="damaged"):
        load("steady").begin(SENTENCE, scales=Scales(0.0, 1e9, 0.0))


def test_a_sentence_without_duration_is_one_frame_of_nothing() -> None:
    zeros = np.zeros((1, 4, 3), np.float32)
    frames = TokenFrames(zeros + 5, zeros, np.zeros(3, np.int64), np.random.default_rng(0))
    assert frames(0, 1)["mean"].tolist() == [[[0.0]] * 4]
    assert frames(0, 1)["noise"].shape == (1, 4, 1)


def frames_of(durations: list[int], seed: int = 0) -> TokenFrames:
    count = len(durations)
    mean = np.arange(2 * count, dtype=np.float32).reshape(1, 2, count)
    return TokenFrames(mean, -mean, np.array(durations), np.random.default_rng(seed))


def test_each_phoneme_is_repeated_for_its_duration() -> None:
    made = frames_of([2, 0, 3])(0, 5)
    assert made["mean"][0, 0].tolist() == [0, 0, 2, 2, 2]
    assert made["log_std"][0, 1].tolist() == [-3, -3, -5, -5, -5]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_the_noise_does_not_depend_on_the_pieces(sizes: list[int]) -> None:
    total = sum(sizes)
    whole = frames_of([total])(0, total)["noise"]
    pieces, frames, at = [], frames_of([total]), 0
    for size in sizes:
        pieces.append(frames(at, at + size)["noise"])
        at += size
    np.testing.assert_array_equal(np.concatenate(pieces, axis=2), whole)
    np.testing.assert_array_equal(frames(0, total)["noise"], whole)  # asked for again


def test_a_latent_is_cut_as_it_is() -> None:
    latent = np.arange(6, dtype=np.float32).reshape(1, 1, 6)
    assert LatentFrames(latent)(2, 4)["latent"].tolist() == [[[2, 3]]]


def test_scales_are_in_the_order_of_the_graphs() -> None:
    assert Scales(0.25, 1.5, 0.5).array().tolist() == [0.25, 1.5, 0.5]
