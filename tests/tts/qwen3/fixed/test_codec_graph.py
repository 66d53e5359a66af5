"""The codec's graphs: their shapes, and that weights lie once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.fixed.codec_graph import FRAMES, build_codec
from tests.tts.qwen3.fixed.plain import check_plain


@pytest.fixture(scope="module")
def graphs(
    tiny_qwen3: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[int, Path]:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    to = tmp_path_factory.mktemp("fixed")
    return dict(build_codec(read_codec_spec(folder).decoder, Checkpoint(folder), to))


def test_every_shape_is_fixed(graphs: dict[int, Path]) -> None:
    assert tuple(graphs) == FRAMES == (1, 2, 4, 8)
    for path in graphs.values():
        check_plain(path)


def test_weights_lie_once_however_many_graphs_there_are(graphs: dict[int, Path]) -> None:
    first, *others = (
        path.with_name(f"{path.name}.data").stat().st_size for path in graphs.values()
    )
    assert first > 100_000
    assert others == [0] * 3
