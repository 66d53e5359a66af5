"""Every tensor of a speech tokenizer is asked for by name and shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3.checkpoint.codec_shapes import decoder_shapes, encoder_shapes
from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint

TALKER, PREDICTOR = "talker_config", "talker_config.code_predictor_config"


CONFIG, CODEC = "config.json", "speech_tokenizer/config.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Base checkpoint, with dialects besides, so that every field is there."""
    folder = write_checkpoint(tmp_path_factory.mktemp("whole"), "1.7b-base")
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    config[TALKER] |= {"spk_id": {"eric": 70}, "spk_is_dialect": {"eric": "sichuan_dialect"}}
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    return folder


def test_every_tensor_of_a_checkpoint_is_asked_for(whole: Path) -> None:
    """The shapes that files are held against are those that are written, none more or less."""
    codec = read_codec_spec(whole / "speech_tokenizer")
    weights = Checkpoint(whole / "speech_tokenizer")
    asked = decoder_shapes(codec.decoder) | encoder_shapes(codec.encoder)
    assert all(weights.shape(name) == shape for name, shape in asked.items())
    left = {name for name in weights.names if name not in asked}
    unused = ("initialized", "input_proj.weight", "output_proj.weight", "embed_sum")
    assert all(name.endswith((*unused, "cluster_usage")) for name in left)
