"""A language model whose parts are computed at different places, and moved between utterances."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.backends import (
    device_placement,
)
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.language import LoadedLanguage, load_language
from s2s.tts.qwen3.sampling import Sampling, SeededDraws

GREEDY = Sampling(greedy=True)


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
@pytest.mark.parametrize("places", [("native", "ggml"), ("onnx", "native"), ("ggml", "onnx")])
def test_ports_can_be_at_different_places(
    places: tuple[str, str],
    tiny_qwen3: Callable[[str], Path],
    kernel_cache: Path,
    tmp_path: Path,
) -> None:
    """Each with the codes that both ports give at its place."""
    source = tiny_qwen3("0.6b-base")
    quants = Quants("q8_0")

    def opened(talker: str, predictor: str) -> LoadedLanguage:
        where = (device_placement(talker), device_placement(predictor))
        return load_language(source, tmp_path, quants, where, threads=1, kernels=kernel_cache)

    mixed, first, second = opened(*places), opened(*places[:1] * 2), opened(*places[1:] * 2)
    assert (str(mixed.talker), str(mixed.predictor)) == places
    assert not mixed.use_threads(2)
    width = read_spec(mixed.folder).talker.hidden
    vectors = np.random.default_rng(0).standard_normal((5, width), dtype=np.float32)
    outs = [
        each.language.talker.prefill(each.language.talker.new_state(8), vectors)
        for each in (mixed, first)
    ]
    np.testing.assert_array_equal(outs[0].logits, outs[1].logits)
    codes = [
        each.language.predictor.frame(
            each.language.predictor.new_state(), vectors[0], 3, GREEDY, SeededDraws(0)
        )
        for each in (mixed, second)
    ]
    np.testing.assert_array_equal(codes[0], codes[1])


def test_threads_and_draft_tokens_can_change_between_utterances(
    tiny_qwen3: Callable[[str], Path], kernel_cache: Path, tmp_path: Path
) -> None:
    place = device_placement("native")
    opened = load_language(
        tiny_qwen3("0.6b-base"),
        tmp_path,
        Quants("q8_0"),
        (place, place),
        threads=1,
        kernels=kernel_cache,
    )
    language = opened.language
    state = language.predictor.new_state()
    hidden = np.random.default_rng(0).standard_normal(language.spec.talker.hidden, dtype=np.float32)
    codes = [language.predictor.frame(state, hidden, 3, GREEDY, SeededDraws(0))]
    for threads, draft_tokens in ((2, 0), (3, 2), (1, 1)):
        assert opened.use_threads(threads)
        opened.use_draft_tokens(draft_tokens)
        codes.append(language.predictor.frame(state, hidden, 3, GREEDY, SeededDraws(0)))
    for other in codes[1:]:
        np.testing.assert_array_equal(other, codes[0])
