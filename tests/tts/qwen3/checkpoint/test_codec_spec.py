"""The shape of a speech tokenizer: what its fields must agree on."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from s2s.testing.random_tensors import codec_config
from s2s.tts.qwen3.checkpoint.codec_spec import FRAME_HZ, CodecSpec, check_pair, read_codec_spec
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import CodecError


def spec_of(**changes: object) -> CodecSpec:
    """Of a tiny tokenizer with fields changed; `decoder_config__x` is inside of a part."""
    config: dict[str, Any] = copy.deepcopy(codec_config(tiny=True))
    for name, value in changes.items():
        part, _, key = name.rpartition("__")
        (config[part] if part else config)[key] = value
    return CodecSpec.from_config(config)


@pytest.mark.parametrize("tiny", [True, False])
def test_a_frame_is_eighty_milliseconds_of_sound(tiny: bool) -> None:
    spec = CodecSpec.from_config(codec_config(tiny=tiny))
    assert spec.decoder.samples_per_frame == spec.sample_rate_hz / FRAME_HZ == 1920
    assert spec.encoder.samples_per_frame * FRAME_HZ == spec.encoder.sample_rate_hz


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"model_type": "mimi"}, "model_type"),
        ({"output_sample_rate": 16_000}, "output_sample_rate"),
        ({"decode_upsample_rate": 960}, "decode_upsample_rate"),
        ({"encode_downsample_rate": 960}, "encode_downsample_rate"),
        ({"decoder_config__codebook_dim": 33}, "codebook_dim"),
        ({"decoder_config__upsample_rates": [64] * 4}, "upsample_rates"),
        ({"decoder_config__hidden_act": "relu"}, "hidden_act"),
        ({"decoder_config__sliding_window": 1}, "sliding_window"),
        ({"encoder_config__use_causal_conv": False}, "use_causal_conv"),
        ({"encoder_config__dilation_growth_rate": 64, "encoder_config__num_residual_layers": 8},
         "dilation_growth_rate"),
        ({"encoder_config__num_semantic_quantizers": 16}, "num_semantic_quantizers"),
        ({"encoder_config__sampling_rate": 48_000}, "frame_rate"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_named(changes: dict[str, object], named: str) -> None:
    with pytest.raises(CodecError, match=named):
        spec_of(**changes)


def test_what_the_encoders_config_leaves_out_is_as_mimi_has_it() -> None:
    config = copy.deepcopy(codec_config(tiny=True))
    del config["encoder_config"]["norm_eps"]
    assert CodecSpec.from_config(config).encoder.norm_eps == 1e-5


def test_language_model_and_codec_make_a_pair(tiny_qwen3: Callable[[str], Path]) -> None:
    folder = tiny_qwen3("0.6b-base")
    spec, codec = read_spec(folder), read_codec_spec(folder / "speech_tokenizer")
    check_pair(spec, codec, folder)
    fewer = replace(codec, decoder=replace(codec.decoder, code_groups=spec.groups - 1))
    with pytest.raises(CodecError, match="num_quantizers"):
        check_pair(spec, fewer, folder)
    smaller = replace(codec, decoder=replace(codec.decoder, codebook_size=spec.codes - 1))
    with pytest.raises(CodecError, match="codebook_size"):
        check_pair(spec, smaller, folder)
