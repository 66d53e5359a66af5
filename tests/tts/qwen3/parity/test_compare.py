"""How far quantisations are from float32, on a tiny model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.errors import BackendError, ConvertError
from s2s.tts.qwen3.parity.compare import Parity, Traced, trace_table
from s2s.tts.qwen3.parity.tensors import Difference

Tiny = Callable[[str], Path]


def test_quantisations_rank_and_the_backend_may_be_named(tiny_qwen3: Tiny) -> None:
    parity = Parity(tiny_qwen3("1.7b-customvoice"), 1)
    rows = {row.name: row for row in parity.quality(["onnx:int8", "onnx:int4"], 2)}
    assert list(rows) == ["onnx:int8", "onnx:int4"]
    assert rows["onnx:int8"].kl < rows["onnx:int4"].kl


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
def test_float32_agrees_tensor_by_tensor(tiny_qwen3: Tiny) -> None:
    parity = Parity(tiny_qwen3("0.6b-base"), 1, trace=True)
    traced = parity.trace("f32", 1e-2)
    assert traced.first is None
    assert len(traced.differences) > 20


def test_what_there_is_not_is_an_error(tiny_qwen3: Tiny) -> None:
    parity = Parity(tiny_qwen3("0.6b-base"), 1)
    with pytest.raises((ConvertError, BackendError)):
        parity.quality(["q3"], 1)
    with pytest.raises(BackendError, match="nothere"):
        parity.quality(["nothere:q8_0"], 1)


def test_the_table_shows_the_worst_and_the_first(tiny_qwen3: Tiny) -> None:
    found = tuple(Difference(f"layer.{n}", n / 10, n / 100) for n in range(20))
    table = trace_table(Traced("q8_0", found, found[4]), rows=3)
    assert "parts first at layer.4" in table
    assert "layer.19" in table
    assert "layer.3 " not in table
    assert "all 20 tensors agree" in trace_table(Traced("f32", found, None))
