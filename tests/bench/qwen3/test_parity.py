"""`bench parity` on a tiny random model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.app import cli
from s2s.system.llama_cpp import installed
from s2s.tts.qwen3 import BACKENDS

NATIVE = next(backend for backend in BACKENDS if backend.name == "native")

pytestmark = [
    pytest.mark.ggml,
    pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp"),
]


def test_a_row_a_quant_and_float32_agrees(
    tiny_qwen3: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tiny_qwen3("0.6b-customvoice"))
    assert cli.main(["bench", "parity", folder, "--quants", "f32,q8_0", "--frames", "6"]) == 0
    out = capsys.readouterr().out
    exact, rough = json.loads(out.splitlines()[-1])["quants"]
    assert (exact["name"], rough["name"]) == ("f32", "q8_0")
    assert exact["kl"] < 1e-6 < rough["kl"]
    assert exact["codes"] == [1.0] * 15
    assert "random weights" in out


@pytest.mark.skipif(NATIVE.missing() is not None, reason=f"native: {NATIVE.missing()}")
def test_a_row_may_name_its_backend(
    tiny_qwen3: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tiny_qwen3("0.6b-customvoice"))
    quants = "native:q8_0,int8,onnx-f32"
    assert cli.main(["bench", "parity", folder, "--quants", quants, "--frames", "4"]) == 0
    native, blocks, exact = json.loads(capsys.readouterr().out.splitlines()[-1])["quants"]
    assert [native["name"], blocks["name"], exact["name"]] == quants.split(",")
    assert exact["kl"] < 1e-6 < native["kl"] < 0.01
    assert 1e-6 < blocks["kl"] < 0.01
    assert cli.main(["bench", "parity", folder, "--quants", "native:f32"]) != 0
    assert "more than native computes in" in capsys.readouterr().err


def test_a_trace_names_where_a_quant_parts(
    tiny_qwen3: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tiny_qwen3("1.7b-base"))
    assert cli.main(["bench", "parity", folder, "--trace", "--quants", "f32,q8_0"]) == 0
    out = capsys.readouterr().out
    assert "f32: all " in out
    record = json.loads(out.splitlines()[-1])
    assert record["parts_at"]["f32"] is None
    assert record["parts_at"]["q8_0"].startswith("prompt ")


def test_a_source_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "parity", "/no/such/folder"]) != 0
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
