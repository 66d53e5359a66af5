"""llama.cpp as a backend: every quantisation of GGUF, on a graphics card too."""

from __future__ import annotations

import pytest

from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.checkpoint.quant import MIXES
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.ggml import backend as module
from s2s.tts.qwen3.ggml.backend import GgmlBackend


@pytest.mark.parametrize("quant", MIXES)
def test_it_computes_in_every_one_of_them(quant: str) -> None:
    assert GgmlBackend().quant(Quants(quant)) == Quants(quant)


def test_another_is_refused_and_nothing_decodes_here() -> None:
    with pytest.raises(BackendError, match="nothing like int4"):
        GgmlBackend().quant(Quants("int4"))
    assert GgmlBackend().codec is None
    assert GgmlBackend().graphics


def test_it_needs_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "installed", list)
    assert "pip install xllamacpp" in str(GgmlBackend().missing())
    monkeypatch.setattr(module, "installed", lambda: [("llama_cpp", "libllama.so")])
    assert GgmlBackend().missing() is None
