"""MLX as a backend: its quantisations in place of others, and what it lacks."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from s2s.tts.qwen3.backend import Quants, Setting
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.mlx.backend import MlxBackend
from tests.support.other_voices import check_voice
from tests.tts.qwen3.mlx.in_mlx import in_mlx

CHECKS = {
    "stopped", "speaks after it was stopped", "sounds", "as ggml's in f32", "not missing",
    "available", "parity in f32", "parity in eight bits",
}  # fmt: skip

STOPS = {
    "test_stops_at_random_moments_leave_nothing_behind",
    "test_a_reader_that_stops_listening_stops_the_work",
    "test_after_a_stop_speech_starts_as_softly_as_ever",
}


@pytest.mark.voices
@pytest.mark.timeout(2400)
def test_a_whole_model_speaks(tmp_path: Path) -> None:
    assert check_voice(in_mlx("speak"), tmp_path) == dict.fromkeys(CHECKS, True)


@pytest.mark.voices
@pytest.mark.timeout(2400)
def test_stops_at_random_moments_leave_nothing_behind(tmp_path: Path) -> None:
    """As on every other core: tests/tts/qwen3/engine/test_abort.py itself."""
    assert check_voice(in_mlx("abort"), tmp_path) == dict.fromkeys(STOPS, True)


@pytest.mark.parametrize(
    ("wished", "computed"),
    [
        (Quants("mlx-4"), Quants("mlx-4")),
        (Quants("q4_k_m"), Quants("mlx-6", None)),
        (Quants("Q6_K", "q8_0"), Quants("mlx-8", "mlx-8")),
        (Quants("bf16"), Quants("mlx-bf16", None)),
        (Quants("f32"), Quants("mlx-f32", None)),
    ],
)
def test_the_next_with_as_many_bits_is_taken(wished: Quants, computed: Quants) -> None:
    assert MlxBackend().quant(wished) == computed


@pytest.mark.parametrize("wished", [Quants("int4"), Quants("q8_0", "int8")])
def test_what_it_has_nothing_like_is_refused(wished: Quants) -> None:
    with pytest.raises(BackendError, match=r"it has .*mlx-6"):
        MlxBackend().quant(wished)


def test_it_needs_its_package(monkeypatch: pytest.MonkeyPatch, tiny_qwen3, tmp_path: Path) -> None:
    folder = tiny_qwen3("0.6b-base")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    backend = MlxBackend()
    assert "pip install mlx" in str(backend.missing())
    with pytest.raises(BackendError, match="pip install mlx"):
        backend.open(Setting(read_spec(folder), 1, tmp_path))
    with pytest.raises(BackendError, match="pip install mlx"):
        open_decoder(folder / "speech_tokenizer", tmp_path, placement="mlx")


def test_a_device_by_name_is_refused(tiny_qwen3, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="mlx@ane: MLX chooses its device itself"):
        open_decoder(tiny_qwen3("0.6b-base") / "speech_tokenizer", tmp_path, placement="mlx@ane")
