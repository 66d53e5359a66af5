"""The codes of silence, computed once and kept; a damaged file is computed again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.codec.silence import silent_codes


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", "[1", "null", "5", '["1"]', "[true]", "[-1]", "[64]", "[1.0]", "[" * 100_000],
)
def test_a_damaged_file_is_made_anew(
    content: str, cache: Path, tiny_qwen3: Callable[[str], Path]
) -> None:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    spec = read_codec_spec(folder)
    found = silent_codes(folder, spec, cache, 1)
    assert found
    assert all(0 <= code < 64 for code in found)
    (kept,) = cache.glob("silence-*.json")
    whole = kept.read_text()
    kept.write_text(content)
    assert silent_codes(folder, spec, cache, 1) == found
    assert kept.read_text() == whole
