"""Which backend computes what, and what is said when one is not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3 import backends
from s2s.tts.qwen3.backends import Place, Quants, available, open_language
from s2s.tts.qwen3.calibrate import probe
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.sampling import Sampling, SeededDraws

GREEDY = Sampling(greedy=True)


@pytest.mark.parametrize("text", ["native", "onnx", "ggml", "ggml@gpu", "ggml@gpu:20"])
def test_a_place_is_written_as_it_is_read(text: str) -> None:
    assert str(Place.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mlx", "unknown backend 'mlx'; known: native, onnx, ggml"),
        ("native@gpu", "only ggml computes on a graphics card"),
        ("ggml@tpu", "write ggml@gpu or ggml@gpu:LAYERS"),
        ("ggml@gpu:all", "write ggml@gpu or ggml@gpu:LAYERS"),
    ],
)
def test_another_place_is_an_error_that_names_the_known(text: str, says: str) -> None:
    with pytest.raises(BackendError, match=says):
        Place.parse(text)


def test_a_backend_takes_the_nearest_quantisation_it_has() -> None:
    assert Quants("q4_k_m").of("onnx") == Quants("int4")
    assert Quants("q4_k_m", "q8_0").of("onnx") == Quants("int4", "int8")
    assert Quants("q4_k_m").of("native") == Quants("q4_k_m")
    assert Quants("int4-128").of("onnx") == Quants("int4-128")
    with pytest.raises(BackendError, match="int4 is a quantisation of onnx, not of ggml"):
        Quants("int4").of("ggml")
    with pytest.raises(BackendError, match="more than native computes in; take ggml"):
        Quants("bf16").of("native")
    with pytest.raises(BackendError, match="onnx has nothing like bf16"):
        Quants("bf16").of("onnx")


def test_only_what_is_installed_and_can_do_it_is_a_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("_lacks_native", "_lacks_onnx", "_lacks_ggml"):
        monkeypatch.setattr(backends, name, lambda: None)
    assert available(Quants("q4_k_m")) == ["native", "onnx", "ggml"]
    assert available(Quants("f32")) == ["ggml"]
    assert available(Quants("int8")) == ["onnx"]
    monkeypatch.setattr(backends, "_lacks_native", lambda: "no C compiler")
    assert available(Quants("q8_0")) == ["onnx", "ggml"]
    monkeypatch.setattr(backends, "_lacks_ggml", lambda: "pip install xllamacpp")
    with pytest.raises(BackendError, match="no backend for f32: ggml: pip install xllamacpp"):
        available(Quants("f32"))


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

    def opened(talker: str, predictor: str) -> backends.Opened:
        where = (Place.parse(talker), Place.parse(predictor))
        return open_language(source, tmp_path, quants, where, threads=1, kernels=kernel_cache)

    mixed, first, second = opened(*places), opened(*places[:1] * 2), opened(*places[1:] * 2)
    assert (str(mixed.talker), str(mixed.predictor)) == places
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
    place = Place.parse("native")
    opened = open_language(
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
    assert opened.use_threads is not None
    for threads, draft_tokens in ((2, 0), (3, 2), (1, 1)):
        opened.use_threads(threads)
        opened.use_draft_tokens(draft_tokens)
        codes.append(language.predictor.frame(state, hidden, 3, GREEDY, SeededDraws(0)))
    for other in codes[1:]:
        np.testing.assert_array_equal(other, codes[0])


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
def test_every_backend_can_be_measured(
    tiny_qwen3: Callable[[str], Path], kernel_cache: Path, tmp_path: Path
) -> None:
    source = tiny_qwen3("1.7b-base")
    for backend in available(Quants("q4_k_m")):
        found = probe.frame_ms(backend, source, Quants("q4_k_m"), tmp_path, threads=1)
        assert 0 < found < 60_000
    left = [path.name for path in tmp_path.iterdir() if path.name.startswith("probe-")]
    assert left == []
