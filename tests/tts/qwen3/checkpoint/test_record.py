"""What a converted checkpoint was made from, and whether it still is that."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.gguf_layout import TALKER
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import (
    CheckpointError,
    SpecError,
)


@pytest.fixture
def base(tiny_qwen3: Callable[[str], Path]) -> Path:
    return tiny_qwen3("0.6b-base")


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
