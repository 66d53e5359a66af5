"""The opened model: a part is moved to another core while the other stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.backends import (
    device_placement,
)
from s2s.tts.qwen3.language import load_language


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
def test_a_part_is_moved_and_the_other_stays(
    tiny_qwen3: Callable[[str], Path], kernel_cache: Path, tmp_path: Path
) -> None:
    native, ggml = device_placement("native"), device_placement("ggml")
    loaded = load_language(
        tiny_qwen3("0.6b-base"),
        tmp_path,
        Quants("q8_0"),
        (native, native),
        threads=1,
        draft_tokens=2,
        kernels=kernel_cache,
    )
    moved = loaded.moved(talker=ggml)
    assert (str(moved.talker), str(moved.predictor)) == ("ggml", "native")
    assert moved.language.predictor is loaded.language.predictor
    assert moved.language.talker is not loaded.language.talker
    assert set(moved.cores) == {"native", "ggml"}
    back = moved.moved(talker=native, predictor=ggml)
    assert (str(back.talker), str(back.predictor)) == ("native", "ggml")
    assert back.drafting.draft_tokens == 2
    assert set(back.moved(predictor=native).cores) == {"native"}
