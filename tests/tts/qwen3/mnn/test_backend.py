"""MNN as a backend: its quantisations in place of others, where it is placed, what it lacks."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from s2s.tts.qwen3.backend import Quants, Setting
from s2s.tts.qwen3.backends import available, codec_placement, device_placement
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.codec.open import codecs_here, open_decoder
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.mnn.backend import MnnBackend
from tests.support.other_voices import check_voice
from tests.tts.qwen3.mnn.in_mnn import in_mnn

CHECKS = {
    "sounds", "as ggml's in f32", "stopped", "nothing is left behind", "not missing",
    "not by itself", "parity in f32", "parity in eight bits", "no opencl", "no metal", "no coreml",
    "no nnapi", "no qnn",
}  # fmt: skip


STOPS = {
    "test_stops_at_random_moments_leave_nothing_behind",
    "test_a_reader_that_stops_listening_stops_the_work",
    "test_after_a_stop_speech_starts_as_softly_as_ever",
}


@pytest.mark.mnn
@pytest.mark.timeout(2400)
def test_a_whole_model_speaks(tmp_path: Path) -> None:
    assert check_voice(in_mnn("speak"), tmp_path) == dict.fromkeys(CHECKS, True)


@pytest.mark.mnn
@pytest.mark.timeout(2400)
def test_stops_at_random_moments_leave_nothing_behind(tmp_path: Path) -> None:
    """As on every other core: tests/tts/qwen3/engine/test_abort.py itself."""
    assert check_voice(in_mnn("abort"), tmp_path) == dict.fromkeys(STOPS, True)


@pytest.mark.parametrize(
    ("wished", "computed"),
    [
        (Quants("mnn-4-32"), Quants("mnn-4-32")),
        (Quants("q4_k_m"), Quants("mnn-4", None)),
        (Quants("Q6_K", "q8_0"), Quants("mnn-8", "mnn-8")),
        (Quants("bf16"), Quants("mnn-f32", None)),
    ],
)
def test_the_next_with_as_many_bits_is_taken(wished: Quants, computed: Quants) -> None:
    assert MnnBackend().quant(wished) == computed


@pytest.mark.parametrize("wished", [Quants("int4"), Quants("q8_0", "int8")])
def test_what_it_has_nothing_like_is_refused(wished: Quants) -> None:
    with pytest.raises(BackendError, match=r"it has mnn-f32, mnn-8, mnn-4"):
        MnnBackend().quant(wished)


def test_it_needs_its_package(monkeypatch: pytest.MonkeyPatch, tiny_qwen3, tmp_path: Path) -> None:
    folder = tiny_qwen3("0.6b-base")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    backend = MnnBackend()
    assert "pip install 's2s[mnn]'" in str(backend.missing())
    with pytest.raises(BackendError, match="pip install"):
        backend.open(Setting(read_spec(folder), 1, tmp_path))
    with pytest.raises(BackendError, match="pip install"):
        open_decoder(folder / "speech_tokenizer", tmp_path, placement="mnn")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mnn", "mnn"),
        ("MNN@CPU", "mnn"),
        ("mnn@OpenCL", "mnn@opencl"),
        ("mnn@qnn:precision=low", "mnn@qnn:precision=low"),
    ],
)
def test_a_part_is_placed_on_a_back_end(text: str, name: str) -> None:
    assert str(device_placement(text)) == name
    assert device_placement(text) == device_placement(name)
    assert codec_placement(text).codec is MnnBackend().codec


def test_a_back_end_that_there_is_not_is_an_error_that_names_the_known() -> None:
    with pytest.raises(BackendError, match="'gpu' is no back end of MNN; known: cpu, metal"):
        device_placement("mnn@gpu")


@pytest.mark.usefixtures("fake_mnn")
def test_it_is_taken_where_it_is_named_and_nowhere_else() -> None:
    assert MnnBackend().missing() is None
    assert "mnn" not in [backend.name for backend in available(Quants("q4_k_m"))]
    assert "mnn" not in codecs_here()
