"""What is known of a model before it is loaded."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import onnxruntime
import pytest

from s2s.tts.qwen3 import diagnosis
from s2s.tts.qwen3.calibrate.cache import CalibrationCache, Speed
from s2s.tts.qwen3.checkpoint.spec import Kind
from s2s.tts.qwen3.diagnosis import diagnose, foresee
from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.folders import CALIBRATION_FILE, KERNEL_FOLDER
from s2s.tts.qwen3.ggml.backend import GgmlBackend
from s2s.tts.qwen3.mlx.backend import MlxBackend
from s2s.tts.qwen3.mnn.backend import MnnBackend
from s2s.tts.qwen3.native.backend import NativeBackend
from s2s.tts.qwen3.onnx.backend import OnnxBackend


def test_a_machine_without_a_kernel_is_told_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def none(cache: Path) -> str:
        asked.append(cache)
        raise KernelError("no C compiler: apt-get install gcc")

    monkeypatch.setattr(diagnosis, "described", none)
    found = diagnose(tmp_path)
    assert (found.kernel, found.speeds) == ("", {})
    assert "apt-get install gcc" in found.remedy
    assert asked == [tmp_path / KERNEL_FOLDER]
    monkeypatch.setattr(diagnosis, "described", lambda _: "kernel installed, level avx2")
    assert diagnose(tmp_path).kernel == "kernel installed, level avx2"
    assert diagnose(tmp_path).remedy == ""


def test_it_says_which_cores_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (NativeBackend, GgmlBackend):
        monkeypatch.setattr(kind, "missing", lambda _: "not here")
    for kind in (OnnxBackend, MlxBackend):
        monkeypatch.setattr(kind, "missing", lambda _: None)
    monkeypatch.setattr(MnnBackend, "missing", lambda _: None)
    found = diagnose(tmp_path)
    assert set(found.cores) == {"onnx", "mlx"}
    assert {"fixed", "mnn"} <= set(found.named)


def test_it_says_what_onnxruntime_computes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: names)
    here, missing = diagnose(tmp_path).providers
    assert here == ("cpu", "cuda")
    assert {"tensorrt", "coreml"} <= set(missing)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert diagnose(tmp_path).providers == ((), ())


def test_what_was_measured_here_is_shown(tmp_path: Path) -> None:
    CalibrationCache(tmp_path / CALIBRATION_FILE).keep_speed(
        "m q4_k_m", Speed(2, 0, 20.0, 2.0, 9.0)
    )
    (speed,) = diagnose(tmp_path).speeds.values()
    assert speed.threads == 2


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("0.6b-base", Kind.BASE),
        ("1.7b-customvoice", Kind.CUSTOM_VOICE),
        ("1.7b-voicedesign", Kind.VOICE_DESIGN),
    ],
)
def test_a_folder_and_a_published_name_are_foreseen(
    kind: str, expected: Kind, tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    for source in (tiny_qwen3(kind), kind, kind.upper()):
        found = foresee(source, tmp_path)
        assert found is not None
        assert found.kind is expected
        assert bool(found.speakers) == (expected is Kind.CUSTOM_VOICE)


def test_of_another_name_or_a_damaged_folder_nothing_is_known(tmp_path: Path) -> None:
    assert foresee("nothing-of-that-name", tmp_path) is None
    (tmp_path / "config.json").write_text("{")
    assert foresee(tmp_path, tmp_path) is None
