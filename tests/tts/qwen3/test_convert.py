"""Conversion: the folder it makes, once and whole or not at all, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.convert import convert
from tests.support.patience import PATIENCE_S


@pytest.fixture
def base(tiny_qwen3: Callable[[str], Path]) -> Path:
    return tiny_qwen3("0.6b-base")


def test_unknown_quants_fail_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown quant 'q3'; known: f32, bf16"):
        convert("Qwen/nothing", "q3", converted=tmp_path)
    with pytest.raises(ValueError, match="known: f32"):
        convert("Qwen/nothing", "q8_0", predictor_quant="x", converted=tmp_path)


def test_no_heavy_package_is_loaded(base: Path, tmp_path: Path) -> None:
    """Converting to q8_0 takes numpy alone."""
    code = (
        "import sys; from pathlib import Path; from s2s.tts.qwen3.convert import convert;"
        f"convert({str(base)!r}, 'q8_0', converted=Path({str(tmp_path)!r}));"
        "print(sorted({'torch','onnxruntime','llama_cpp','xllamacpp','huggingface_hub'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.stdout.strip() == "[]"
