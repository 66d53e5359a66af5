"""Conversion: the folder it makes, once and whole or not at all, and what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.core.arrays import Floats
from s2s.system.llama_cpp import installed
from s2s.testing.random_checkpoint import main_tensors, write_safetensors
from s2s.tts.qwen3.checkpoint import conversion, gguf_weights
from s2s.tts.qwen3.checkpoint.gguf import GGUFFile
from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TABLES, TALKER
from s2s.tts.qwen3.checkpoint.hub import Source
from s2s.tts.qwen3.checkpoint.quant import TYPES, Bytes, TensorType, dequantize
from s2s.tts.qwen3.checkpoint.record import read_record
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import (
    CheckpointError,
    ConvertError,
    LlamaError,
    SpecError,
    WeightError,
)
from s2s.tts.qwen3.reference import ReferenceEmbeddings
from tests.support.patience import PATIENCE_S

FILES = (TALKER, PREDICTOR, TABLES)
needs_library = pytest.mark.skipif(
    not installed(), reason="no llama.cpp library: pip install xllamacpp"
)


def kinds(folder: Path, file: str) -> dict[str, str]:
    """Tensor name to type."""
    tensors = GGUFFile(folder / file).tensors.values()
    return {info.name: info.kind.name for info in tensors if info.kind is not None}


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


def test_folding_is_what_the_model_computes(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    source = tiny_qwen3("1.7b-base")
    spec, weights = read_spec(source), Checkpoint(source)
    file = GGUFFile(convert(source, "f32", converted=tmp_path) / TABLES)
    text = dequantize(file.raw("text"), TYPES["f32"])
    expected = ReferenceEmbeddings(spec, weights).text(np.arange(spec.text_vocabulary))
    np.testing.assert_allclose(text, expected, atol=1e-5)
    projection = "talker.code_predictor.small_to_mtp_projection"
    rows = weights.rows("talker.model.codec_embedding.weight", 0, spec.codes)
    first = rows @ weights[f"{projection}.weight"].T + weights[f"{projection}.bias"]
    np.testing.assert_allclose(
        dequantize(file.raw("predictor_in.0"), TYPES["f32"]), first, atol=1e-5
    )
    last = f"predictor_in.{spec.groups - 2}"
    rows = weights[f"talker.code_predictor.model.codec_embedding.{spec.groups - 3}.weight"]
    expected = rows @ weights[f"{projection}.weight"].T + weights[f"{projection}.bias"]
    np.testing.assert_allclose(dequantize(file.raw(last), TYPES["f32"]), expected, atol=1e-5)
    assert f"predictor_in.{spec.groups - 1}" not in file.tensors


@needs_library
def test_q4_k_m_spares_what_suffers(base: Path, tmp_path: Path) -> None:
    folder = convert(base, "q4_k_m", converted=tmp_path)
    talker, predictor = kinds(folder, TALKER), kinds(folder, PREDICTOR)
    assert talker["blk.0.attn_q.weight"] == talker["blk.0.ffn_down.weight"] == "q4_k"
    assert talker["blk.1.ffn_down.weight"] == talker["output.weight"] == "q6_k"
    assert talker["blk.0.attn_q_norm.weight"] == "f32"
    assert {kind for name, kind in predictor.items() if "norm" not in name} == {"f32", "q8_0"}
    assert predictor["token_embd.weight"] == "f32"
    tables = kinds(folder, TABLES)
    assert tables["text"] == tables["head.3"] == "q8_0"
    assert tables["codec"] == tables["codes.14"] == "bf16"  # as stored


@needs_library
def test_the_predictors_quant_can_be_chosen(base: Path, tmp_path: Path) -> None:
    folder = convert(base, "q8_0", predictor_quant="q4_k_m", converted=tmp_path)
    assert kinds(folder, PREDICTOR)["blk.0.attn_q.weight"] == "q4_k"
    assert kinds(folder, TABLES)["head.0"] == "q6_k"
    assert kinds(folder, TALKER)["blk.0.attn_q.weight"] == "q8_0"
    assert folder != convert(base, "q8_0", converted=tmp_path)


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


def test_unknown_quants_fail_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown quant 'q3'; known: f32, bf16"):
        convert("Qwen/nothing", "q3", converted=tmp_path)
    with pytest.raises(ValueError, match="known: f32"):
        convert("Qwen/nothing", "q8_0", predictor_quant="x", converted=tmp_path)


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


def test_no_heavy_package_is_loaded(base: Path, tmp_path: Path) -> None:
    """Converting to q8_0 takes numpy alone."""
    code = (
        "import sys; from pathlib import Path; from s2s.tts.qwen3.convert import convert;"
        f"convert({str(base)!r}, 'q8_0', converted=Path({str(tmp_path)!r}));"
        "print(sorted({'torch','onnxruntime','llama_cpp','xllamacpp','huggingface_hub'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.stdout.strip() == "[]"


def _edit(path: Path, **fields: object) -> None:
    content = json.loads(path.read_text())
    content["talker_config"] |= fields
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("field", "value"),
    [("rope_theta", 10_000), ("rms_norm_eps", 1e-5), ("num_attention_heads", 2),
     ("codec_eos_token_id", 1000), ("max_position_embeddings", 99)],
)  # fmt: skip
@pytest.mark.parametrize("quant", ["q8_0", "int8"])
def test_a_config_that_contradicts_the_weights_is_named(
    quant: str, field: str, value: object, base: Path, tmp_path: Path
) -> None:
    """An edit of a converted folder; from the official checkpoint it is made again."""
    folder = convert(base, quant, converted=tmp_path)
    _edit(folder / "config.json", **{field: value})
    with pytest.raises(SpecError, match="the weights were made with") as caught:
        convert(folder, quant, converted=tmp_path)
    assert caught.value.file == str(folder / "config.json")
    assert caught.value.field == f"talker_config.{field}"
    assert convert(base, quant, converted=tmp_path) == folder
    assert read_spec(folder) == read_spec(base)


def test_a_config_may_be_edited_where_the_weights_say_nothing(base: Path, tmp_path: Path) -> None:
    folder = convert(base, "q8_0", converted=tmp_path)
    (folder / "generation_config.json").write_text('{"temperature": 0.5}')
    _edit(folder / "config.json", codec_language_id={"klingon": 66})
    assert convert(folder, "q8_0", converted=tmp_path) == folder


@pytest.mark.parametrize("quant", ["q8_0", "int8"])
def test_a_damaged_file_is_named_or_made_again(quant: str, base: Path, tmp_path: Path) -> None:
    folder = convert(base, quant, converted=tmp_path)
    file = folder / (TALKER if quant == "q8_0" else "talker.onnx")
    whole = file.read_bytes()
    file.write_bytes(whole[:99] + bytes([whole[99] ^ 1]) + whole[100:])
    with pytest.raises(CheckpointError, match="is not what the conversion made") as caught:
        convert(folder, quant, converted=tmp_path)
    assert caught.value.file == str(file)
    assert convert(base, quant, converted=tmp_path) == folder
    assert file.read_bytes() == whole


@pytest.mark.parametrize("quant", ["f32", "q8_0", "onnx-f32", "int8"])
@pytest.mark.parametrize(
    ("file", "name"),
    [("model.safetensors", "talker.model.norm.weight"),
     ("model.safetensors", "talker.model.layers.1.mlp.up_proj.weight"),
     ("model.safetensors", "talker.code_predictor.lm_head.3.weight"),
     ("model.safetensors", "speaker_encoder.fc.bias"),
     ("speech_tokenizer/model.safetensors", "decoder.decoder.5.alpha"),
     ("speech_tokenizer/model.safetensors", "encoder.downsample.conv.weight")],
)  # fmt: skip
def test_a_weight_that_is_no_number_is_refused(
    quant: str, file: str, name: str, base: Path, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    shutil.copytree(base, source)
    content = bytearray((source / file).read_bytes())
    length = int.from_bytes(content[:8], "little")
    entry = json.loads(content[8 : 8 + length])[name]
    at = 8 + length + entry["data_offsets"][1]
    content[at - 2 : at] = b"\xc0\x7f"
    (source / file).write_bytes(content)
    with pytest.raises(WeightError, match="must be a finite number") as caught:
        convert(source, quant, converted=tmp_path / "out")
    assert (caught.value.file, caught.value.field) == (str(source / file), name)
    assert not list((tmp_path / "out").glob("[!.]*"))


@pytest.mark.parametrize(
    ("quant", "predictor", "message"),
    [("int4", None, r"the predictor in int8 \(what int4 takes for the predictor\): rows of 96 "
      r"values do not divide into blocks of 128; set predictor_quant to onnx-f32 or int8-32 or "
      r"int4"),
     ("int4-128", "int4", "the talker in int4-128: rows of 96 .* set quant to"),
     ("int8", None, "the talker in int8: rows of 96")],
)  # fmt: skip
def test_a_width_without_blocks_names_the_format_and_the_way_out(
    quant: str, predictor: str | None, message: str, base: Path, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    shutil.copytree(base, source)
    config = json.loads((source / "config.json").read_text())
    talker = config["talker_config"]
    talker["intermediate_size"] = talker["code_predictor_config"]["intermediate_size"] = 96
    (source / "config.json").write_text(json.dumps(config))
    write_safetensors(source / "model.safetensors", list(main_tensors(config)), "BF16", 0)
    with pytest.raises(ConvertError, match=message):
        convert(source, quant, predictor_quant=predictor, converted=tmp_path / "out")
    assert convert(source, "int4", predictor_quant="int8-32", converted=tmp_path / "out").is_dir()
