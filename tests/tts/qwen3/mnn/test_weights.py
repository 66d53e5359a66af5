"""A language model stored in MNN's files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.record import read_record
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import ConvertError
from s2s.tts.qwen3.mnn.language_graph import MNN_GRAPHS_VERSION


@pytest.mark.usefixtures("fake_mnn")
def test_progress_ends_where_it_said(tiny_qwen3: Callable[[str], Path], tmp_path: Path) -> None:
    seen: dict[str, tuple[int, int]] = {}

    def progress(file: str, done: int, total: int) -> None:
        assert done > seen.get(file, (0, 0))[0]
        seen[file] = done, total

    folder = convert(tiny_qwen3("1.7b-base"), "mnn-4", converted=tmp_path, progress=progress)
    assert list(seen) == ["talker.mnn", "predictor.mnn", "tables.gguf"]
    assert {name: done - total for name, (done, total) in seen.items()} == dict.fromkeys(seen, 0)
    record = read_record(folder)
    assert record is not None
    assert (record.quant, record.predictor_quant) == ("mnn-4", "mnn-8")
    assert record.graphs == MNN_GRAPHS_VERSION
    assert not list(folder.glob("*.onnx"))
    names = {path.name for path in folder.glob("*.mnn")}
    heads = {f"head-{group}.mnn" for group in range(15)}
    assert names == {"talker.mnn", "predictor.mnn", "projection.mnn", *heads}


@pytest.mark.usefixtures("fake_mnn")
def test_mixes_of_two_backends_are_refused(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    with pytest.raises(ConvertError, match="predictor in one of mnn-f32, mnn-8, mnn-4"):
        convert(tiny_qwen3("0.6b-base"), "mnn-8", predictor_quant="int8", converted=tmp_path)
