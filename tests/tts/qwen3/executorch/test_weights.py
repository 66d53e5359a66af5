"""The files of a checkpoint that is exported for ExecuTorch, and their records."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.conversion import Material
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.checkpoint.tables import open_tables
from s2s.tts.qwen3.errors import BackendError, ConvertError, ExecutorchError
from s2s.tts.qwen3.executorch import weights as weights_module
from s2s.tts.qwen3.executorch.quant import EXPORT_MIXES
from s2s.tts.qwen3.executorch.weights import (
    EXECUTORCH_FILES_VERSION,
    PREDICTOR_FILE,
    TALKER_FILE,
    ExecutorchWeights,
    ExportRecord,
    check_groups,
    open_program,
    predictor_bytes,
    read_export_record,
    require_exporter,
    save,
    talker_bytes,
)

KIND = "0.6b-base"
Tiny = Callable[[str], Path]
RECORD = ExportRecord("source", "et-8", "xnnpack", EXECUTORCH_FILES_VERSION, "1.5.1", "2.13.0")


class Exported:
    """A program's bytes."""

    buffer = b"program"


def test_names_of_mixes_are_checked() -> None:
    assert ExecutorchWeights.of("ET-4", None).predictor == "et-8"
    assert ExecutorchWeights.of("et-4", "et-f32").predictor == "et-f32"
    with pytest.raises(ConvertError, match="a talker in et-8 needs a predictor in one of et-f32"):
        ExecutorchWeights.of("et-8", "q8_0")


def test_a_program_lies_beside_its_record(tmp_path: Path) -> None:
    path = tmp_path / TALKER_FILE
    save(Exported(), path, RECORD)  # type: ignore[arg-type]
    assert path.read_bytes() == b"program"
    assert read_export_record(path) == RECORD
    assert sorted(each.name for each in tmp_path.iterdir()) == [TALKER_FILE, f"{TALKER_FILE}.json"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", r"talker\.pte\.json: is no record"),
        ("[]", r"is no record of an export"),
        (json.dumps({"source": "x"}), r"is no record of an export"),
        (None, r"talker\.pte\.json: is missing; export it again: python -m s2s models export"),
    ],
)
def test_an_odd_record_is_named(content: str | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / TALKER_FILE
    save(Exported(), path, RECORD)  # type: ignore[arg-type]
    beside = path.with_name(f"{TALKER_FILE}.json")
    beside.unlink() if content is None else beside.write_text(content)
    with pytest.raises(ExecutorchError, match=says):
        read_export_record(path)
    path.unlink()
    with pytest.raises(ExecutorchError, match=r"talker\.pte: is missing"):
        read_export_record(path)


def test_a_program_of_another_checkpoint_or_version_is_refused(
    converted_qwen3: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = converted_qwen3(KIND, "f32") / "tables.gguf"
    (tmp_path / tables.name).write_bytes(tables.read_bytes())
    source = str(open_tables(tmp_path).metadata["s2s.source"])
    opened: list[tuple[Path, str]] = []
    monkeypatch.setattr(weights_module, "Program", lambda *given: opened.append(given))
    path, good = tmp_path / PREDICTOR_FILE, replace(RECORD, source=source)
    save(Exported(), path, good)  # type: ignore[arg-type]
    assert open_program(tmp_path, PREDICTOR_FILE)[1] == "et-8"
    assert opened == [(path, "xnnpack")]
    for bad, says in (
        (replace(good, version=9), "another version"),
        (replace(good, quant="et-3"), "another version"),
        (RECORD, "another checkpoint"),
    ):
        path.with_name(f"{PREDICTOR_FILE}.json").write_text(json.dumps(asdict(bad)))
        with pytest.raises(ExecutorchError, match=says):
            open_program(tmp_path, PREDICTOR_FILE)


def test_what_is_to_be_made_is_known_before(
    tiny_qwen3: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_qwen3(KIND)
    material = Material(read_spec(folder), Checkpoint(folder), "source", 1)
    monkeypatch.setattr(weights_module, "require_exporter", lambda: None)
    files = ExecutorchWeights.of("et-4", None).files(material)
    assert [file.name for file in files] == [TALKER_FILE, PREDICTOR_FILE, "tables.gguf"]
    spec, whole = material.spec, EXPORT_MIXES["et-f32"]
    assert files[0].nbytes < talker_bytes(spec, whole) / 4
    assert files[1].nbytes < predictor_bytes(spec, whole) / 3
    projected = read_spec(tiny_qwen3("1.7b-base"))
    assert predictor_bytes(projected, whole) > predictor_bytes(spec, whole)


def test_rows_that_do_not_divide_name_what_can_be_taken(tiny_qwen3: Tiny) -> None:
    spec = replace(read_spec(tiny_qwen3(KIND)).talker, intermediate=100)
    check_groups(EXPORT_MIXES["et-8"], spec, "talker", "quant")
    with pytest.raises(ConvertError, match=r"rows of 100 values .* set quant to et-f32 or et-8"):
        check_groups(EXPORT_MIXES["et-4"], spec, "talker", "quant")


def test_an_export_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else 1)
    with pytest.raises(BackendError, match=r"an export needs torch: .*'s2s\[executorch\]'"):
        require_exporter()
