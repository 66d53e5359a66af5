"""ExecuTorch as a backend: its quantisations in place of others, and what it lacks."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from s2s.tts.qwen3.backend import Quants, Setting
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.codec.open import codecs_here, open_decoder
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.executorch import backend as backend_module
from s2s.tts.qwen3.executorch.backend import ExecutorchBackend
from tests.support.other_voices import check_voice
from tests.tts.qwen3.executorch.in_executorch import in_executorch

CHECKS = {
    "stopped", "speaks after it was stopped", "sounds", "as ggml's in f32", "not missing",
    "parity in f32", "parity in eight bits", "threads",
}  # fmt: skip
STOPS = {
    "test_stops_at_random_moments_leave_nothing_behind",
    "test_a_reader_that_stops_listening_stops_the_work",
    "test_after_a_stop_speech_starts_as_softly_as_ever",
}


@pytest.mark.executorch
@pytest.mark.timeout(2400)
def test_a_whole_model_speaks(tmp_path: Path) -> None:
    assert check_voice(in_executorch("speak"), tmp_path) == dict.fromkeys(CHECKS, True)


@pytest.mark.executorch
@pytest.mark.timeout(2400)
def test_stops_at_random_moments_leave_nothing_behind(tmp_path: Path) -> None:
    """As on every other core: tests/tts/qwen3/engine/test_abort.py itself."""
    assert check_voice(in_executorch("abort"), tmp_path) == dict.fromkeys(STOPS, True)


@pytest.mark.parametrize(
    ("wished", "computed"),
    [
        (Quants("et-4"), Quants("et-4")),
        (Quants("q4_k_m"), Quants("et-8", None)),
        (Quants("Q6_K", "q8_0"), Quants("et-8", "et-8")),
        (Quants("bf16"), Quants("et-f32", None)),
        (Quants("et-coreml"), Quants("et-coreml")),
    ],
)
def test_the_next_with_as_many_bits_is_taken(wished: Quants, computed: Quants) -> None:
    assert ExecutorchBackend().quant(wished) == computed


@pytest.mark.parametrize("wished", [Quants("int4"), Quants("q8_0", "int8")])
def test_what_it_has_nothing_like_is_refused(wished: Quants) -> None:
    with pytest.raises(BackendError, match=r"it has et-f32, et-8, et-4, et-coreml"):
        ExecutorchBackend().quant(wished)


def test_it_needs_its_package(monkeypatch: pytest.MonkeyPatch, tiny_qwen3, tmp_path: Path) -> None:
    folder = tiny_qwen3("0.6b-base")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    backend = ExecutorchBackend()
    says = r"pip install 's2s\[executorch\]'"
    assert "s2s[executorch]" in str(backend.missing())
    with pytest.raises(BackendError, match=says):
        backend.open(Setting(read_spec(folder), 1, tmp_path))
    with pytest.raises(BackendError, match=says):
        open_decoder(folder / "speech_tokenizer", tmp_path, placement="executorch")
    with pytest.raises(BackendError, match=says):
        backend.convert(Quants("et-8"), ConversionJob(folder, tmp_path / "converted"))


def test_it_has_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_module, "missing", lambda: None)
    assert "executorch" not in codecs_here()


def test_threads_are_the_process_own(
    monkeypatch: pytest.MonkeyPatch, tiny_qwen3, tmp_path: Path
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(backend_module, "missing", lambda: None)
    monkeypatch.setattr(backend_module, "use_threads", asked.append)
    core = ExecutorchBackend().open(Setting(read_spec(tiny_qwen3("0.6b-base")), 3, tmp_path))
    assert core.use_threads(2)
    assert asked == [3, 2]
    assert core.remarks == ()


def test_a_delegate_that_there_is_not_is_refused(tiny_qwen3, tmp_path: Path) -> None:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    with pytest.raises(BackendError, match=r"no delegate 'ane' here; known: xnnpack, coreml, qnn"):
        open_decoder(folder, tmp_path, placement="executorch@ane")
