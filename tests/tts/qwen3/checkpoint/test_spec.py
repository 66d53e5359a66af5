"""What a checkpoint is, read from its own config."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import Kind, Spec, read_spec
from s2s.tts.qwen3.errors import SpecError

KINDS = {
    "0.6b-base": (Kind.BASE, False, False),
    "0.6b-customvoice": (Kind.CUSTOM_VOICE, False, False),
    "1.7b-base": (Kind.BASE, True, False),
    "1.7b-customvoice": (Kind.CUSTOM_VOICE, True, True),
    "1.7b-voicedesign": (Kind.VOICE_DESIGN, True, True),
}


Tiny = Callable[[str], Path]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_from_its_config(kind: str, tiny_qwen3: Tiny) -> None:
    spec = read_spec(tiny_qwen3(kind))
    assert (spec.kind, spec.projected, spec.takes_instruction) == KINDS[kind]
    assert bool(spec.speakers) == (spec.kind is Kind.CUSTOM_VOICE)
    assert spec.groups == 16
    open_checkpoint(tiny_qwen3(kind), spec)


def change(config: dict[str, Any], path: str, value: object) -> None:
    *parts, last = path.split("/")
    for part in parts:
        config = config[part]
    if value is None:
        del config[last]
    else:
        config[last] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("model_type", "qwen3", "model_type is 'qwen3'"),
        ("tokenizer_type", "qwen3_tts_tokenizer_25hz", "12 Hz"),
        ("tts_model_type", "singing", "singing.*base, custom_voice, voice_design"),
        ("talker_config", None, "talker_config is missing"),
        ("talker_config/code_predictor_config", None, "code_predictor_config is missing"),
        ("talker_config/hidden_size", "big", "hidden_size must be a whole number, got 'big'"),
        ("talker_config/rms_norm_eps", None, "rms_norm_eps must be a number"),
        ("talker_config/attention_bias", True, "attention bias"),
        ("talker_config/vocab_size", 99, "codec vocabulary of 99"),
        ("talker_config/spk_id", {"x": [1, 2]}, "spk_id of x"),
        ("tts_pad_token_id", None, "tts_pad_token_id"),
    ],
)
def test_a_config_of_something_else_says_which_field(
    path: str, value: object, message: str, tiny_qwen3: Tiny
) -> None:
    config = json.loads((tiny_qwen3("1.7b-customvoice") / "config.json").read_text())
    change(config, path, value)
    with pytest.raises(SpecError, match=message):
        Spec.from_config(config)


def test_speaker_ids_may_be_lists_of_one(tiny_qwen3: Tiny) -> None:
    config = json.loads((tiny_qwen3("1.7b-customvoice") / "config.json").read_text())
    plain = Spec.from_config(config)
    config["talker_config"]["spk_id"] = {k: [v] for k, v in plain.speakers.items()}
    assert Spec.from_config(config).speakers == plain.speakers


def test_settings_of_the_checkpoint_come_before_the_defaults(tiny_qwen3: Tiny) -> None:
    config = json.loads((tiny_qwen3("1.7b-customvoice") / "config.json").read_text())
    generation = Spec.from_config(config, {"temperature": 0.5, "subtalker_top_k": 7}).generation
    assert generation.talker.temperature == 0.5
    assert generation.predictor.top_k == 7
    assert generation.predictor.temperature == 0.9
    assert generation.max_new_tokens == 2048


@pytest.mark.parametrize("content", [None, "", "[1]", "{"])
def test_a_folder_without_a_config_is_refused(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(SpecError, match=r"config\.json"):
        read_spec(tmp_path)
