"""One core under measurement: its figures, and its reason where it cannot run."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.bench.qwen3 import core_row
from s2s.bench.qwen3.cores import make_exact
from s2s.tts.qwen3 import AUTO

FRAMES = 4


def told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> dict[str, object]:
    """What it prints last."""
    monkeypatch.setattr(sys, "argv", ["core_row", *arguments])
    core_row.main()
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_it_is_made_ready_and_then_measured(
    tiny_qwen3: Callable[[str], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, exact = tiny_qwen3("0.6b-customvoice"), tmp_path / "exact.npz"
    make_exact(folder, FRAMES, exact)
    asked = ["--checkpoint", str(folder), "--scratch", str(tmp_path), "--core", "onnx"]
    asked += ["--quant", "onnx-f32", "--threads", "1", "--frames", "3", "--runs", "1"]
    assert told(capsys, monkeypatch, *asked, "--prepare") == {}
    found = told(capsys, monkeypatch, *asked, "--exact", str(exact))
    assert (found["quant"], found["codec"]) == ("onnx-f32+onnx-f32", "onnx")
    agreement = found["agreement"]
    assert isinstance(agreement, dict)
    assert (agreement["frames"], agreement["codes"], agreement["first"]) == (FRAMES, 1.0, 1.0)
    for name in ("rtf", "first_chunk_ms", "load_s", "peak_memory_mb"):
        value = found[name]
        assert isinstance(value, float)
        assert value > 0


@pytest.mark.parametrize(
    ("core", "quant", "words"),
    [
        ("onnx", "q7", "unknown quant 'q7'|onnx has nothing like q7"),
        ("nobody", "q4_k_m", "unknown backend 'nobody'"),
    ],
)
def test_what_cannot_run_says_why(
    core: str,
    quant: str,
    words: str,
    tiny_qwen3: Callable[[str], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tiny_qwen3("0.6b-customvoice")
    asked = ["--checkpoint", str(folder), "--scratch", str(tmp_path), "--prepare"]
    found = told(capsys, monkeypatch, *asked, "--core", core, "--quant", quant)
    assert set(found) == {"error"}
    assert re.search(words, str(found["error"]))


def test_a_core_decodes_itself_where_it_can() -> None:
    def codec(core: str) -> str:
        asked = ["--checkpoint", "c", "--scratch", "s", "--prepare", "--core", core]
        return core_row.setting_of(core_row.parse(asked)).codec

    assert codec("native") == "native"
    assert codec("mlx") == "mlx"
    assert codec("ggml") == codec("ggml@gpu") == AUTO
