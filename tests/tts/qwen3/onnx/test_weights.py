"""A language model stored as graphs: its files, and the quantisations of both parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.record import read_record
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.onnx.language_graph import LANGUAGE_GRAPHS_VERSION

KIND, WIDE_KIND = "0.6b-base", "1.7b-base"


FolderOf = Callable[[str, str], Path]


def test_the_folder_holds_graphs_in_place_of_ggufs(converted_qwen3: FolderOf) -> None:
    folder = converted_qwen3(WIDE_KIND, "int4")
    names = {file.name for file in folder.iterdir()}
    graphs = {f"{name}.onnx" for name in ("talker", "predictor", "heads", "frame", "projection")}
    assert graphs | {f"{name}.data" for name in graphs} | {"tables.gguf"} <= names
    assert not {"talker.gguf", "predictor.gguf"} & names
    assert "projection.onnx" not in {file.name for file in converted_qwen3(KIND, "int4").iterdir()}
    record = read_record(folder)
    assert record is not None
    assert (record.quant, record.predictor_quant, record.graphs) == (
        "int4",
        "int8",
        LANGUAGE_GRAPHS_VERSION,
    )


@pytest.mark.parametrize("quant", ["onnx-f32", "int4"])
def test_progress_ends_where_it_said(
    quant: str, tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    seen: dict[str, tuple[int, int]] = {}

    def progress(file: str, done: int, total: int) -> None:
        assert done > seen.get(file, (0, 0))[0]
        seen[file] = done, total

    convert(tiny_qwen3(WIDE_KIND), quant, converted=tmp_path, progress=progress)
    assert list(seen) == ["talker.onnx", "predictor.onnx", "tables.gguf"]
    assert all(done == total for done, total in seen.values())


def test_mixes_of_two_backends_are_refused(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="predictor in one of"):
        convert(tiny_qwen3(KIND), "int4", predictor_quant="q8_0", converted=tmp_path)
    with pytest.raises(ValueError, match=r"unknown quant 'int3'.*q8_0.*int4-128"):
        convert(tiny_qwen3(KIND), "int3", converted=tmp_path)
    assert not list(tmp_path.iterdir())
