"""A llama.cpp library as speech uses it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.system.llama_context import LlamaModel
from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.checkpoint import gguf
from s2s.tts.qwen3.checkpoint.quant import TYPES
from s2s.tts.qwen3.errors import LlamaError
from s2s.tts.qwen3.ggml.library import library

needs_library = pytest.mark.skipif(
    not installed(), reason="no llama.cpp library: pip install xllamacpp"
)


@pytest.mark.ggml
@needs_library
def test_a_model_that_is_none_is_refused_in_the_librarys_words(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    with pytest.raises(LlamaError, match=r"cannot be loaded: .+"):
        LlamaModel(library(), path)
    kind = TYPES["f32"]
    tensor = gguf.NewTensor("x", (1, 8), kind, lambda: iter([np.zeros((1, 32), np.uint8)]))
    gguf.write(path, {"general.architecture": "no-such-thing"}, [tensor])
    with pytest.raises(LlamaError, match="no-such-thing"):
        LlamaModel(library(), path)
