"""What is in the three files: folded tables, and more bits where they are needed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.system.llama_cpp import installed
from s2s.testing.random_checkpoint import main_tensors, write_safetensors
from s2s.tts.qwen3.checkpoint.gguf import GGUFFile
from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TABLES, TALKER
from s2s.tts.qwen3.checkpoint.quant import TYPES, dequantize
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import (
    ConvertError,
    WeightError,
)
from s2s.tts.qwen3.reference import ReferenceEmbeddings

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
