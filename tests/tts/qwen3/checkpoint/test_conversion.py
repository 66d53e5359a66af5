"""Converting a checkpoint: once, whole or not at all, and gone on with where it was interrupted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.core.arrays import Floats
from s2s.tts.qwen3.checkpoint import conversion, gguf_weights
from s2s.tts.qwen3.checkpoint.gguf import GGUFFile
from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TABLES, TALKER
from s2s.tts.qwen3.checkpoint.hub import Source
from s2s.tts.qwen3.checkpoint.quant import Bytes, TensorType
from s2s.tts.qwen3.checkpoint.record import read_record
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import (
    CheckpointError,
    ConvertError,
    LlamaError,
    SpecError,
)

FILES = (TALKER, PREDICTOR, TABLES)


@pytest.fixture
def base(tiny_qwen3: Callable[[str], Path]) -> Path:
    return tiny_qwen3("0.6b-base")


def test_the_folder_keeps_the_official_layout(base: Path, tmp_path: Path) -> None:
    folder = convert(base, "q8_0", converted=tmp_path)
    assert read_spec(folder) == read_spec(base)
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json", "generation_config.json"):
        assert (folder / name).read_bytes() == (base / name).read_bytes()
    codec = "speech_tokenizer/model.safetensors"
    assert (folder / codec).read_bytes() == (base / codec).read_bytes()
    speaker, original = Checkpoint(folder), Checkpoint(base)
    names = {name for name in original.names if name.startswith("speaker_encoder.")}
    assert set(speaker.names) == names != set()
    for name in names:
        np.testing.assert_array_equal(speaker[name], original[name])
    record = read_record(folder)
    assert record is not None
    assert (record.quant, record.predictor_quant, record.name) == ("q8_0", "q8_0", base.name)


def test_it_is_done_once(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = convert(base, "q8_0", converted=tmp_path)
    monkeypatch.setattr(gguf_weights, "Planner", None)
    assert convert(base, "q8_0", converted=tmp_path) == folder
    assert convert(folder, "q8_0", converted=tmp_path) == folder
    assert convert(folder.name, "q8_0", converted=tmp_path) == folder


def test_a_changed_source_is_converted_anew(base: Path, tmp_path: Path) -> None:
    source = tmp_path / base.name
    shutil.copytree(base, source)
    folder = convert(source, "bf16", converted=tmp_path / "out")
    weights = source / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-(2 << 20) :] = bytes(2 << 20)
    weights.write_bytes(content)
    assert convert(source, "bf16", converted=tmp_path / "out") != folder


def test_what_came_from_the_hub_is_not_asked_for_again(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []

    def fetch(hub_id: str) -> Source:
        fetched.append(hub_id)
        return Source("Qwen3-TTS-12Hz-0.6B-Base", base)

    monkeypatch.setattr(conversion, "fetch", fetch)
    folder = convert("0.6b-base", "q8_0", converted=tmp_path)
    assert folder.name.startswith("Qwen3-TTS-12Hz-0.6B-Base-q8_0-")
    assert convert("Qwen/Qwen3-TTS-12Hz-0.6B-Base", "q8_0", converted=tmp_path) == folder
    assert fetched == ["Qwen/Qwen3-TTS-12Hz-0.6B-Base"]
    assert convert("0.6b-base", "bf16", converted=tmp_path) != folder
    assert len(fetched) == 2


def test_another_quant_of_a_converted_folder_is_refused(base: Path, tmp_path: Path) -> None:
    folder = convert(base, "q8_0", converted=tmp_path)
    with pytest.raises(ConvertError, match="already converted, to q8_0"):
        convert(folder, "f32", converted=tmp_path)


def test_a_failure_leaves_nothing_behind(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(rows: Floats, kind: TensorType) -> Bytes:
        raise LlamaError("no library")

    monkeypatch.setattr(gguf_weights, "k_quantize", fail)
    with pytest.raises(LlamaError):
        convert(base, "q6_k", converted=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    monkeypatch.undo()
    assert convert(base, "q8_0", converted=tmp_path).is_dir()


def test_what_a_killed_conversion_left_is_replaced(base: Path, tmp_path: Path) -> None:
    folder = convert(base, "q8_0", converted=tmp_path)
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.copytree(folder, partial)
    (folder / "converted.json").unlink()
    (folder / TALKER).write_bytes(b"half")
    assert convert(base, "q8_0", converted=tmp_path) == folder
    assert GGUFFile(folder / TALKER).tensors
    assert not partial.exists()


@pytest.mark.parametrize("interrupted_in", FILES)
def test_an_interrupted_conversion_goes_on_where_it_was(
    interrupted_in: str, base: Path, tmp_path: Path
) -> None:
    whole = convert(base, "q8_0", converted=tmp_path / "whole")
    written: list[str] = []

    def interrupt(file: str, done: int, total: int) -> None:
        if file == interrupted_in and done > total // 2:
            raise KeyboardInterrupt

    def note(file: str, done: int, total: int) -> None:
        if not written or written[-1] != file:
            written.append(file)
            first[file] = done / total

    first: dict[str, float] = {}
    with pytest.raises(KeyboardInterrupt):
        convert(base, "q8_0", converted=tmp_path, progress=interrupt)
    folder = convert(base, "q8_0", converted=tmp_path, progress=note)
    before = [*map(str, FILES)].index(interrupted_in)
    assert all(first[name] == 1.0 for name in list(FILES)[:before])  # told at once
    names = {path.relative_to(whole) for path in whole.rglob("*") if path.is_file()}
    assert {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} == names
    for name in names:
        assert (folder / name).read_bytes() == (whole / name).read_bytes()
    assert not list(tmp_path.glob(".*.partial"))


def test_what_another_conversion_left_is_not_gone_on_with(base: Path, tmp_path: Path) -> None:
    folder = convert(base, "q8_0", converted=tmp_path)
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.copytree(folder, partial)
    (partial / "begun.json").write_text('{"format": 1}')
    (partial / TALKER).write_bytes(b"of another version")
    (partial / f"{TALKER}.whole").touch()
    shutil.rmtree(folder)
    assert GGUFFile(convert(base, "q8_0", converted=tmp_path) / TALKER).tensors


def test_progress_ends_at_the_whole(base: Path, tmp_path: Path) -> None:
    seen: dict[str, tuple[int, int]] = {}

    def note(file: str, done: int, total: int) -> None:
        assert done > seen.get(file, (0, 0))[0]
        seen[file] = done, total

    convert(base, "q8_0", converted=tmp_path, progress=note, threads=2)
    assert set(seen) == set(FILES)
    assert all(done == total for done, total in seen.values())


def test_broken_sources_are_refused(base: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    shutil.copytree(base, source)
    weights = source / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    with pytest.raises(CheckpointError, match="cut off"):
        convert(source, "q8_0", converted=out)
    config = json.loads((source / "config.json").read_text())
    weights.write_bytes(whole)
    config["talker_config"]["intermediate_size"] = 128
    (source / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match="does not fit"):
        convert(source, "q8_0", converted=out)
    (source / "config.json").unlink()
    with pytest.raises(SpecError, match="missing"):
        convert(source, "q8_0", converted=out)
    shutil.copyfile(base / "config.json", source / "config.json")
    (source / "speech_tokenizer" / "model.safetensors").unlink()
    with pytest.raises(ConvertError, match="speech_tokenizer"):
        convert(source, "q8_0", converted=out)


def test_a_pickle_is_not_read(base: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(base, source)
    (source / "model.safetensors").rename(source / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match="only safetensors"):
        convert(source, "q8_0", converted=tmp_path / "out")


def test_a_full_disk_is_noticed_first(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
    with pytest.raises(ConvertError, match="MB are needed and 1 MB are free"):
        convert(base, "q8_0", converted=tmp_path)
