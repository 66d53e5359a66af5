"""The quantisations of both parts of a language model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.checkpoint.gguf import GGUFFile
from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TABLES, TALKER
from s2s.tts.qwen3.convert import convert

needs_library = pytest.mark.skipif(
    not installed(), reason="no llama.cpp library: pip install xllamacpp"
)


def kinds(folder: Path, file: str) -> dict[str, str]:
    """Tensor name to type."""
    tensors = GGUFFile(folder / file).tensors.values()
    return {info.name: info.kind.name for info in tensors if info.kind is not None}


@pytest.fixture
def base(tiny_qwen3: Callable[[str], Path]) -> Path:
    return tiny_qwen3("0.6b-base")


@needs_library
def test_the_predictors_quant_can_be_chosen(base: Path, tmp_path: Path) -> None:
    folder = convert(base, "q8_0", predictor_quant="q4_k_m", converted=tmp_path)
    assert kinds(folder, PREDICTOR)["blk.0.attn_q.weight"] == "q4_k"
    assert kinds(folder, TABLES)["head.0"] == "q6_k"
    assert kinds(folder, TALKER)["blk.0.attn_q.weight"] == "q8_0"
    assert folder != convert(base, "q8_0", converted=tmp_path)
