"""The graphs of talker and predictor: what another config or a damaged folder says."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import GGUFError, OnnxError
from s2s.tts.qwen3.onnx.language import load

KIND, WIDE_KIND = "0.6b-base", "1.7b-base"


FolderOf = Callable[[str, str], Path]


@pytest.mark.parametrize("name", ["talker", "frame", "predictor", "heads"])
def test_a_damaged_folder_says_what_is_wrong(
    name: str, converted_qwen3: FolderOf, tmp_path: Path
) -> None:
    whole = converted_qwen3(KIND, "int8")
    folder, spec = tmp_path / "copy", read_spec(whole)
    shutil.copytree(whole, folder)
    graph, data = folder / f"{name}.onnx", folder / f"{name}.onnx.data"
    data.write_bytes(data.read_bytes()[:-1000])
    with pytest.raises(OnnxError, match="convert it again"):
        load(folder, spec, threads=1, draft_tokens=1)
    data.unlink()
    with pytest.raises(OnnxError, match=f"{data.name} is missing"):
        load(folder, spec, threads=1, draft_tokens=1)
    shutil.copy(whole / data.name, data)
    graph.write_bytes(b"nothing of the kind")
    with pytest.raises(OnnxError, match="convert it again"):
        load(folder, spec, threads=1, draft_tokens=1)
    other = converted_qwen3("0.6b-customvoice", "int8")
    for file in (graph.name, data.name):
        shutil.copy(other / file, folder / file)
    with pytest.raises(OnnxError, match="different checkpoints"):
        load(folder, spec, threads=1, draft_tokens=1)


def test_another_models_config_is_refused(converted_qwen3: FolderOf) -> None:
    with pytest.raises((OnnxError, GGUFError)):
        load(
            converted_qwen3(KIND, "onnx-f32"),
            read_spec(converted_qwen3(WIDE_KIND, "onnx-f32")),
            threads=1,
        )
