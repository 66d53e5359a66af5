"""What is wrong with a model's file is said by one error: the file, the field, what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3.checkpoint.codec_shapes import decoder_shapes, encoder_shapes
from s2s.tts.qwen3.checkpoint.codec_spec import check_pair, read_codec_spec
from s2s.tts.qwen3.checkpoint.fields import Fields
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint, open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import ModelFileError
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from s2s.tts.qwen3.voices.speaker_encoder import SpeakerEncoderSpec, speaker_shapes

TALKER, PREDICTOR = "talker_config", "talker_config.code_predictor_config"


DECODER, ENCODER, SPEAKER = "decoder_config", "encoder_config", "speaker_encoder_config"


CONFIG, CODEC = "config.json", "speech_tokenizer/config.json"


GENERATION, VOCABULARY, ADDED = "generation_config.json", "vocab.json", "tokenizer_config.json"


NAN, HUGE = float("nan"), 10**18


def read_everything(folder: Path) -> None:
    """All that is read of a checkpoint before any core is asked."""
    spec = read_spec(folder)
    weights = open_checkpoint(folder, spec)
    codec_folder = folder / "speech_tokenizer"
    codec, codec_weights = read_codec_spec(codec_folder), Checkpoint(codec_folder)
    check_pair(spec, codec, codec_folder / "config.json")
    codec_weights.require(decoder_shapes(codec.decoder) | encoder_shapes(codec.encoder))
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    if SPEAKER in config:
        read = Fields(config, str(folder / CONFIG)).section(SPEAKER)
        weights.require(speaker_shapes(SpeakerEncoderSpec.from_fields(read)))
    Tokenizer.load(folder, spec.text_vocabulary)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Base checkpoint, with dialects besides, so that every field is there."""
    folder = write_checkpoint(tmp_path_factory.mktemp("whole"), "1.7b-base")
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    config[TALKER] |= {"spk_id": {"eric": 70}, "spk_is_dialect": {"eric": "sichuan_dialect"}}
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    """A checkpoint whose configs may be edited."""
    return shutil.copytree(whole, tmp_path / "copy")


def test_the_whole_checkpoint_is_read(whole: Path) -> None:
    read_everything(whole)


def _edit(path: Path, field: str, value: object) -> None:
    content: Any = json.loads(path.read_text(encoding="utf-8"))
    *parts, last = field.split(".")
    inside = content
    for part in parts:
        inside = inside[part]
    inside[last] = value
    path.write_text(json.dumps(content), encoding="utf-8")


_DECODER_FIELDS = [
    ("hidden_act", "gelu", None), ("attention_bias", True, None),
    ("use_sliding_window", True, None), ("partial_rotary_factor", 0.5, None),
    ("rope_scaling", {"rope_type": "linear", "factor": 4}, "rope_scaling.rope_type"),
    ("rope_scaling", {"type": "yarn"}, "rope_scaling.type"),
    ("rope_scaling", {"factor": 4.0}, "rope_scaling.factor"), ("rope_scaling", [], None),
    ("rope_parameters", {"rope_theta": 3.0}, "rope_parameters.rope_theta"),
    ("rope_theta", NAN, None), ("rope_theta", 0, None), ("rope_theta", -1, None),
    ("rope_theta", "1e6", None), ("rope_theta", 1e300, None), ("rms_norm_eps", NAN, None),
    ("rms_norm_eps", float("inf"), None), ("rms_norm_eps", 0, None), ("rms_norm_eps", 1e-60, None),
    ("rms_norm_eps", None, None), ("num_hidden_layers", 0, None),
    ("num_hidden_layers", 10**9, None),
    ("num_attention_heads", 3, None), ("num_attention_heads", HUGE, None),
    ("num_key_value_heads", 3, "num_attention_heads"), ("num_key_value_heads", 0, None),
    ("head_dim", 127, None), ("head_dim", 0, None), ("head_dim", 2**21, None),
    ("hidden_size", 2**21, None), ("hidden_size", -1, None), ("hidden_size", 1.5, None),
    ("intermediate_size", HUGE, None), ("max_position_embeddings", HUGE, None),
    ("max_position_embeddings", 0, None), ("vocab_size", True, None), ("vocab_size", HUGE, None),
    ("layer_types", ["sliding_attention"] * 2, None),
]  # fmt: skip


_CODEC_DECODER_FIELDS = [
    ("hidden_act", "relu", None), ("attention_bias", True, None), ("rope_theta", NAN, None),
    ("rms_norm_eps", 0, None), ("num_hidden_layers", 10**9, None), ("num_attention_heads", 3, None),
    ("head_dim", 15, None), ("head_dim", 10**9, None), ("num_quantizers", 10**9, None),
    ("num_quantizers", 8, None), ("num_semantic_quantizers", 2, None), ("codebook_size", 0, None),
    ("codebook_size", HUGE, None), ("codebook_size", 32, None), ("codebook_dim", 31, None),
    ("latent_dim", HUGE, None), ("decoder_dim", 66, None), ("decoder_dim", 10**9, None),
    ("upsample_rates", [], None), ("upsample_rates", [8, 5, 4, HUGE], None),
    ("upsample_rates", [64, 64, 64, 64], None), ("upsample_rates", "8543", None),
    ("upsampling_ratios", [0, 2], None), ("upsampling_ratios", [True, 2], None),
    ("sliding_window", None, None), ("sliding_window", 10**9, None), ("sliding_window", 0, None),
]  # fmt: skip


_ENCODER_FIELDS = [
    ("hidden_act", "silu", None), ("norm_eps", NAN, None), ("rope_theta", -1.0, None),
    ("num_hidden_layers", 10**9, None), ("num_attention_heads", 3, None), ("head_dim", 15, None),
    ("num_semantic_quantizers", 16, None), ("upsampling_ratios", [], None),
    ("upsampling_ratios", [10**9, 6, 5, 4], None), ("kernel_size", 10**9, None),
    ("residual_kernel_size", 0, None), ("num_residual_layers", 10**9, None),
    ("dilation_growth_rate", 10**9, None), ("compress", 0, None), ("num_filters", HUGE, None),
    ("_frame_rate", 25.0, None), ("_frame_rate", "x", None), ("sampling_rate", 0, None),
    ("sampling_rate", 10**9, None), ("codebook_size", -5, None), ("use_causal_conv", False, None),
]  # fmt: skip


_SPEAKER_FIELDS = [
    ("enc_dim", "big", None), ("enc_dim", HUGE, None), ("enc_channels", [64, 64], None),
    ("enc_channels", [64, 32, 64, 64, 192], None), ("enc_channels", 64, None),
    ("enc_kernel_sizes", [5, 3, 3, 3, 10**9], None), ("enc_dilations", [1, 2, 3, 4, 0], None),
    ("enc_res2net_scale", 0, None), ("enc_res2net_scale", 7, "enc_channels"),
    ("enc_se_channels", HUGE, None), ("enc_attention_channels", None, ""),
    ("sample_rate", 16_000, None), ("mel_dim", 80, None),
]  # fmt: skip


_OTHERS = [
    (CONFIG, "model_type", None), (CONFIG, "tokenizer_type", 25), (CONFIG, "tts_model_type", []),
    (CONFIG, "tts_model_size", 6), (CONFIG, "quantization_config", {"bits": 4}),
    (CONFIG, "tts_pad_token_id", HUGE), (CONFIG, "tts_bos_token_id", "x"),
    (CONFIG, "tts_eos_token_id", -1), (CONFIG, TALKER, []),
    (CONFIG, f"{TALKER}.num_code_groups", 10**18), (CONFIG, f"{TALKER}.num_code_groups", 1),
    (CONFIG, f"{PREDICTOR}.num_code_groups", 4), (CONFIG, f"{TALKER}.text_vocab_size", HUGE),
    (CONFIG, f"{TALKER}.text_hidden_size", 10**9), (CONFIG, f"{TALKER}.codec_eos_token_id", 3),
    (CONFIG, f"{TALKER}.codec_pad_id", 2000), (CONFIG, f"{TALKER}.codec_think_id", None),
    (CONFIG, f"{TALKER}.codec_language_id", {"english": 10**9}),
    (CONFIG, f"{TALKER}.codec_language_id", "english"), (CONFIG, f"{TALKER}.spk_id", {"x": -1}),
    (CONFIG, f"{TALKER}.spk_is_dialect", {"eric": "martian"}),
    (CONFIG, f"{TALKER}.spk_is_dialect", {"eric": 5}),
    (GENERATION, "temperature", 0), (GENERATION, "temperature", NAN), (GENERATION, "top_k", -1),
    (GENERATION, "top_p", 0), (GENERATION, "top_p", 1.5), (GENERATION, "do_sample", "yes"),
    (GENERATION, "repetition_penalty", 0), (GENERATION, "max_new_tokens", float("inf")),
    (GENERATION, "max_new_tokens", 1), (GENERATION, "subtalker_temperature", "hot"),
    (CODEC, "model_type", "qwen3_tts_tokenizer_25hz"), (CODEC, "output_sample_rate", 1),
    (CODEC, "output_sample_rate", 10**9), (CODEC, "output_sample_rate", 48_000),
    (CODEC, "decode_upsample_rate", 1280), (CODEC, "encode_downsample_rate", "x"),
    (CODEC, "encoder_valid_num_quantizers", 10**9), (CODEC, DECODER, None), (CODEC, ENCODER, 3),
]  # fmt: skip


_CASES: list[tuple[str, str, object, str]] = [
    *((CONFIG, f"{TALKER}.{key}", value, f"{TALKER}.{named or key}")
      for key, value, named in _DECODER_FIELDS),
    *((CONFIG, f"{PREDICTOR}.{key}", value, f"{PREDICTOR}.{named or key}")
      for key, value, named in _DECODER_FIELDS),
    *((CODEC, f"{DECODER}.{key}", value, f"{DECODER}.{named or key}")
      for key, value, named in _CODEC_DECODER_FIELDS),
    *((CODEC, f"{ENCODER}.{key}", value, f"{ENCODER}.{named or key}")
      for key, value, named in _ENCODER_FIELDS),
    *((CONFIG, f"{SPEAKER}.{key}", value, f"{SPEAKER}.{named or key}")
      for key, value, named in _SPEAKER_FIELDS if named != ""),
    *((file, field, value, field) for file, field, value in _OTHERS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "field", "value", "named"),
    _CASES,
    ids=[f"{field}={value!s:.24}" for _, field, value, _ in _CASES],
)
def test_a_field_is_named(file: str, field: str, value: object, named: str, copy: Path) -> None:
    _edit(copy / file, field, value)
    with pytest.raises(ModelFileError) as caught:
        read_everything(copy)
    text = str(caught.value)
    assert caught.value.file == str(copy / file), text
    assert caught.value.field == named or field == f"{TALKER}.vocab_size", text
    assert named.rpartition(".")[2] in text
    assert "; " in text, f"what to do is missing: {text}"
    assert len(text) < 600


Change = Callable[[dict[str, Any]], object]


def _first(header: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    name = next(name for name in header if name != "__metadata__")
    return name, header[name]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data_offsets", ["0", "4"]), ("data_offsets", [0]), ("data_offsets", [0, 2**70]),
        ("data_offsets", [-4, 4]), ("data_offsets", None), ("data_offsets", {"0": 1}),
        ("data_offsets", [2, 0]), ("shape", "wide"), ("shape", [1.5]), ("shape", [-1]),
        ("shape", [2**40, 2**40]), ("shape", [True]), ("shape", None), ("shape", [1] * 40),
        ("dtype", "F64"), ("dtype", 5), ("dtype", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("file", ["model.safetensors", "speech_tokenizer/model.safetensors"])
def test_a_tensors_entry_is_named(file: str, key: str, value: object, copy: Path) -> None:
    def change(header: dict[str, Any]) -> None:
        header[name][key] = value

    name = _first(_header(copy / file))[0]
    _change_header(copy / file, change)
    with pytest.raises(ModelFileError) as caught:
        read_everything(copy)
    assert str(copy / file) in str(caught.value)
    assert name in str(caught.value)


def test_tensors_that_share_bytes_are_named(copy: Path) -> None:
    def overlap(header: dict[str, Any]) -> None:
        same = [name for name in header if name.endswith("input_layernorm.weight")][:2]
        header[same[0]]["data_offsets"] = header[same[1]]["data_offsets"]

    _change_header(copy / "model.safetensors", overlap)
    with pytest.raises(ModelFileError, match="shares bytes with"):
        read_everything(copy)


def _header(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def _change_header(path: Path, change: Change) -> None:
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])


@pytest.mark.parametrize(
    "file", [CONFIG, CODEC, GENERATION, VOCABULARY, ADDED, "model.safetensors"]
)
@pytest.mark.parametrize("content", ["[" * 200_000, "[1]", "{", "", '{"a": 1e'])
def test_json_that_is_none_is_named(file: str, content: str, copy: Path) -> None:
    data = content.encode()
    if file.endswith("safetensors"):
        data = len(data).to_bytes(8, "little") + data
    (copy / file).write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        read_everything(copy)
    assert str(copy / file) in str(caught.value)


@pytest.mark.parametrize(
    ("file", "change", "named"),
    [
        (VOCABULARY, lambda found: found.pop("!"), "'!'"),
        (VOCABULARY, lambda found: found.pop("as"), "'as'"),
        (VOCABULARY, lambda found: found.update({"a": 10**9}), "'a'"),
        (VOCABULARY, lambda found: found.update({"a": "1"}), "'a'"),
        (VOCABULARY, lambda found: found.update({"a": -1}), "'a'"),
        (ADDED, lambda found: found.pop("added_tokens_decoder"), "added_tokens_decoder"),
        (ADDED, lambda found: found["added_tokens_decoder"].update({"x": {"content": "<x>"}}),
         "added_tokens_decoder.x"),
        (ADDED, lambda found: found["added_tokens_decoder"].update({"5": {}}),
         "added_tokens_decoder.5"),
        (ADDED, lambda found: found["added_tokens_decoder"].update({"5": {"content": ""}}),
         "added_tokens_decoder.5"),
        (ADDED, lambda found: found["added_tokens_decoder"].update({"99999": {"content": "<x>"}}),
         "added_tokens_decoder.99999"),
    ],
)  # fmt: skip
def test_a_token_is_named(file: str, change: Change, named: str, copy: Path) -> None:
    content = json.loads((copy / file).read_text(encoding="utf-8"))
    change(content)
    (copy / file).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ModelFileError) as caught:
        read_everything(copy)
    assert (caught.value.file, caught.value.field) == (str(copy / file), named)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("file", ["model.safetensors", "speech_tokenizer/model.safetensors"])
def test_a_weight_that_is_no_number_is_named(file: str, value: float, copy: Path) -> None:
    name, entry = [*_header(copy / file).items()][-1]
    content = bytearray((copy / file).read_bytes())
    width = {"F32": 4, "BF16": 2}[entry["dtype"]]
    content[-width:] = np.float32(value).tobytes()[-width:]
    (copy / file).write_bytes(content)
    with pytest.raises(ModelFileError, match="finite number") as caught:
        Checkpoint(copy / file).load(name)
    assert (caught.value.file, caught.value.field) == (str(copy / file), name)
