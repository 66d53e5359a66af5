"""Frames with a given acceptance rate, for benchmarks of random weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.native.language import NativePredictor, load, open_predictor
from s2s.tts.qwen3.native.transformer import ThreadPool
from s2s.tts.qwen3.sampling import Sampling, SeededDraws


@pytest.fixture(scope="module")
def predictor(
    tiny_qwen3: Callable[[str], Path], kernel_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> NativePredictor:
    folder = convert(tiny_qwen3("1.7b-base"), "q8_0", converted=tmp_path_factory.mktemp("to"))
    found = load(folder, read_spec(folder), 1, cache=kernel_cache).language.predictor
    assert isinstance(found, NativePredictor)
    return found


def hiddens(predictor: NativePredictor, count: int) -> Floats:
    width = 512
    return np.random.default_rng(0).standard_normal((count, width), dtype=np.float32)


def test_acceptance_at_a_rate_is_for_measuring_alone(
    tiny_qwen3: Callable[[str], Path], kernel_cache: Path, tmp_path: Path
) -> None:
    folder = convert(tiny_qwen3("1.7b-base"), "q8_0", converted=tmp_path)
    passes = {}
    for rate in (None, 0.0, 1.0):
        predictor, _ = open_predictor(folder, read_spec(folder), ThreadPool(kernel_cache, 1), 2)
        if rate is not None:
            predictor.accept_at_rate(rate)
        state = predictor.new_state()
        predictor.frame(state, hiddens(predictor, 1)[0], 7, Sampling(), SeededDraws(0))
        passes[rate] = state.forward_passes
    assert passes[0.0] == 15
    assert passes[1.0] == 6  # one code, then three a pass
    assert passes[1.0] <= passes[None] <= passes[0.0]
