"""Speaks with mlx-audio itself, on a small random Pocket TTS: speak_mlx_audio.py DIR"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import mlx.core as mx
import numpy as np
import tokenizers
from mlx.utils import tree_flatten
from mlx_audio.tts.models.pocket_tts import Model

from s2s.core.audio import write_wav
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.mlx_audio import MlxAudio, MlxAudioConfig
from tests.voices.checks import check, check_as_others, fails, sound, tell

folder = Path(sys.argv[1])
TRANSFORMER = {"d_model": 32, "num_heads": 4, "num_layers": 1}
CONFIG = {
    "model_type": "pocket_tts",
    "tokenizer_name": "tokenizer.json",
    "flow_lm": {
        "dtype": "float32",
        "flow": {"depth": 2, "dim": 32},
        "transformer": {**TRANSFORMER, "hidden_scale": 2, "max_period": 10000},
        "lookup_table": {
            "dim": 32,
            "n_bins": 128,
            "tokenizer": "huggingface",
            "tokenizer_path": "tokenizer.json",
        },
    },
    "mimi": {
        "dtype": "float32",
        "sample_rate": 24000,
        "channels": 1,
        "frame_rate": 12.5,
        "seanet": {
            "dimension": 32,
            "channels": 1,
            "n_filters": 4,
            "n_residual_layers": 1,
            "ratios": [6, 5, 4],
            "kernel_size": 7,
            "residual_kernel_size": 3,
            "last_kernel_size": 3,
            "dilation_base": 2,
            "pad_mode": "constant",
            "compress": 2,
        },
        "transformer": {
            **TRANSFORMER,
            "layer_scale": 0.01,
            "context": 250,
            "dim_feedforward": 32,
            "input_dimension": 32,
            "output_dimensions": [32],
        },
        "quantizer": {"dimension": 8, "output_dimension": 32},
    },
}


def make(path: Path) -> None:
    """The model's files."""
    path.mkdir(parents=True)
    letters = {chr(number): number for number in range(128)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(letters, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    tokenizer.save(str(path / "tokenizer.json"))
    (path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    mx.random.seed(1)
    model = Model({**CONFIG, "model_path": str(path)})
    mx.save_safetensors(str(path / "model.safetensors"), dict(tree_flatten(model.parameters())))


make(folder / "tiny")
recording = folder / "me.wav"
noise = np.random.default_rng(0).standard_normal(24_000).astype(np.float32)
write_wav(recording, 0.1 * noise, 24_000)
resources = Resources(Store(folder / "store", manifest={}))


def open_model(model: str) -> MlxAudio:
    return MlxAudio(MlxAudioConfig(model=model, reference=str(recording)), resources)


voice = open_model(str(folder / "tiny"))
voice.warm()
check_as_others(voice)
check("its rate", voice.capabilities.sample_rate_hz == 24_000)
made: list[int] = []
worker = threading.Thread(target=lambda: made.append(sound(voice).size))
worker.start()
worker.join()
check("from another thread", made and made[0])
check("a hub that has it not", fails(lambda: open_model("someone/tiny"), "cannot be loaded"))
voice.close()
check("closed", fails(lambda: sound(voice), "closed"))
tell()
