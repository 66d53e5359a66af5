"""Which backend computes what, and what is said when one is not there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import onnxruntime
import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3 import backends
from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.backends import (
    BACKENDS,
    Candidates,
    available,
    backend_named,
    candidates,
    cards_of_onnxruntime,
    codec_placement,
    device_placement,
    in_order,
    quant_on,
)
from s2s.tts.qwen3.calibrate import probe
from s2s.tts.qwen3.codec import open as codec_open
from s2s.tts.qwen3.codec.open import codecs_here
from s2s.tts.qwen3.errors import BackendError, ConvertError, KernelError
from s2s.tts.qwen3.ggml.backend import GgmlBackend
from s2s.tts.qwen3.language import load_language
from s2s.tts.qwen3.mlx.backend import MlxBackend, MlxCodec
from s2s.tts.qwen3.native import backend as native_backend
from s2s.tts.qwen3.native.backend import NativeBackend
from s2s.tts.qwen3.onnx.backend import OnnxBackend


def names(quants: Quants) -> list[str]:
    return [backend.name for backend in available(quants)]


def test_every_folder_with_a_backend_is_in_the_list() -> None:
    folder = Path(backends.__file__).parent
    assert {path.parent.name for path in folder.glob("*/backend.py")} == {
        backend.name for backend in BACKENDS
    }


def test_what_is_likeliest_fastest_comes_first_on_each_system() -> None:
    """Until it is measured."""
    given = (NativeBackend(), OnnxBackend(), GgmlBackend(), MlxBackend())
    for system in ("linux", "win32"):
        ordered = [backend.name for backend in in_order(given, system)]
        assert ordered == ["native", "onnx", "ggml", "mlx"]
    ordered = [backend.name for backend in in_order(given, "darwin")]
    assert ordered == ["mlx", "native", "onnx", "ggml"]
    assert in_order(BACKENDS, sys.platform) == BACKENDS


def test_every_error_about_a_quantisation_lists_the_backends_own() -> None:
    for backend in BACKENDS:
        with pytest.raises(BackendError) as caught:
            backend.quant(Quants("q1"))
        assert f"it has {', '.join(backend.quants)}" in str(caught.value)


def test_a_backend_without_a_codec_is_refused_for_it() -> None:
    able = "native, onnx, mlx, fixed, mnn, executorch"
    with pytest.raises(BackendError, match=f"{able} decode, ggml does not"):
        codec_placement("ggml")
    with pytest.raises(BackendError, match="ggml does not"):
        codec_placement("ggml@gpu")


def test_a_backend_takes_the_nearest_quantisation_it_has() -> None:
    native, onnx, ggml = (backend_named(name) for name in ("native", "onnx", "ggml"))
    assert quant_on(onnx, Quants("q4_k_m")) == Quants("int4")
    assert quant_on(onnx, Quants("q4_k_m", "q8_0")) == Quants("int4", "int8")
    assert quant_on(native, Quants("q4_k_m")) == Quants("q4_k_m")
    assert quant_on(onnx, Quants("int4-128")) == Quants("int4-128")
    with pytest.raises(
        BackendError, match=r"ggml has nothing like int4; it has f32, .*; take onnx"
    ):
        quant_on(ggml, Quants("int4"))
    with pytest.raises(BackendError, match=r"more than native computes in; it has .*; take ggml"):
        quant_on(native, Quants("bf16"))
    with pytest.raises(BackendError, match=r"onnx has nothing like bf16; it has .*; take ggml"):
        quant_on(onnx, Quants("bf16"))
    with pytest.raises(
        ConvertError, match=r"unknown quant 'q3'; known: f32, bf16, .*, int4-128, mlx-f32"
    ):
        available(Quants("q3"))


def test_only_what_is_installed_and_can_do_it_is_a_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lacks(kind: type, reason: str | None) -> None:
        monkeypatch.setattr(kind, "missing", lambda _: reason)

    for kind in (NativeBackend, OnnxBackend, GgmlBackend):
        lacks(kind, None)
    assert names(Quants("q4_k_m")) == ["native", "onnx", "ggml"]
    assert names(Quants("f32")) == ["ggml"]
    assert names(Quants("int8")) == ["onnx"]
    lacks(NativeBackend, "no C compiler")
    assert names(Quants("q8_0")) == ["onnx", "ggml"]
    lacks(GgmlBackend, "pip install xllamacpp")
    lacks(MlxBackend, "pip install mlx")
    with pytest.raises(BackendError, match="no backend for f32: ggml: pip install xllamacpp"):
        available(Quants("f32"))


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
def test_every_backend_can_be_measured(
    tiny_qwen3: Callable[[str], Path], kernel_cache: Path, tmp_path: Path
) -> None:
    source = tiny_qwen3("1.7b-base")
    for backend in available(Quants("q4_k_m")):
        place = device_placement(backend.name)
        loaded = load_language(
            source, tmp_path, Quants("q4_k_m"), (place, place), threads=1, kernels=kernel_cache
        )
        assert 0 < probe.language_ms(loaded.language, frames=2) < 60_000


def test_what_is_measured_is_measured_in_turn() -> None:
    asked: list[str] = []

    def measure(name: str, ms: float) -> Callable[[], float]:
        def measured() -> float:
            asked.append(name)
            return ms

        return measured

    found = probe.in_turn({"a": measure("a", 2.0), "b": measure("b", 1.0)}, 2)
    assert asked == ["a", "b"] * 3  # the first of each does not count
    assert found == {"a": (2.0, 2.0), "b": (1.0, 1.0)}
    asked.clear()
    found = probe.in_turn({"a": measure("a", 9.0), "b": measure("b", 1.0)}, 2)
    assert asked == ["a", "b", "b", "b"]  # nine times as slow is not tried again
    assert found == {"a": (9.0,), "b": (1.0, 1.0)}


def test_only_what_was_asked_for_is_computed_where_it_can_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(native_backend, "require_kernel", lambda: ("cc",))
    found = candidates(Quants("q4_k_m"))
    assert "onnx" not in [backend.name for backend in found.backends]
    assert found.instead == ""
    assert [backend.name for backend in candidates(Quants("INT4")).backends] == ["onnx"]


def test_on_a_mac_mlx_is_a_candidate_in_the_next_quantisation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kind in (NativeBackend, OnnxBackend, GgmlBackend, MlxBackend):
        monkeypatch.setattr(kind, "missing", lambda _: None)
    on_mac, elsewhere = (candidates(Quants("q4_k_m"), each) for each in ("darwin", "linux"))
    assert {backend.name for backend in on_mac.backends} == {"mlx", "native", "ggml"}
    assert {backend.name for backend in elsewhere.backends} == {"native", "ggml"}
    assert on_mac.instead == elsewhere.instead == ""
    assert quant_on(backend_named("mlx"), Quants("q4_k_m")) == Quants("mlx-6")


def test_on_a_mac_mlx_computes_all_parts_until_something_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kind in (NativeBackend, OnnxBackend, GgmlBackend, MlxBackend, MlxCodec):
        monkeypatch.setattr(kind, "missing", lambda _: None)
    ordered = in_order(BACKENDS, "darwin")
    for module in (backends, codec_open):
        monkeypatch.setattr(module, "BACKENDS", ordered)
    assert candidates(Quants("q4_k_m"), "darwin").backends[0].name == "mlx"
    assert codec_open.codec_here({}) == "mlx"


def test_another_format_is_only_taken_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_compiler() -> tuple[str, ...]:
        raise KernelError("no C compiler")

    monkeypatch.setattr(native_backend, "require_kernel", no_compiler)
    monkeypatch.setattr(GgmlBackend, "missing", lambda _: "no llama.cpp library")
    found = candidates(Quants("q4_k_m"))
    assert [backend.name for backend in found.backends] == ["onnx"]
    assert found.instead == (
        "int4 in place of q4_k_m (native: no C compiler; ggml: no llama.cpp library)"
    )


@pytest.mark.parametrize(
    ("cards", "providers", "expected"),
    [
        (1, ["CUDAExecutionProvider", "CPUExecutionProvider"], ("fixed@cuda",)),
        (0, ["CUDAExecutionProvider", "CPUExecutionProvider"], ()),
        (1, ["CPUExecutionProvider"], ()),
    ],
)
def test_onnxruntime_takes_a_card_where_there_is_one_and_it_can(
    cards: int, providers: list[str], expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "cuda_cards_here", lambda: cards)
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: providers)
    assert cards_of_onnxruntime() == expected
    assert codecs_here()[: len(expected)] == list(expected)


def test_what_is_on_a_card_comes_first_until_it_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = Candidates((NativeBackend(), OnnxBackend(), GgmlBackend()))
    monkeypatch.setattr(GgmlBackend, "by_itself_on", "gpu")
    assert given.places == ("ggml@gpu", "native", "onnx")
    monkeypatch.setattr(GgmlBackend, "by_itself_on", "cpu")
    assert given.places == ("native", "onnx", "ggml")
