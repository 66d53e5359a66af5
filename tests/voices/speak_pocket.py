"""Speaks with Pocket TTS itself, on a small random model in its layout: speak_pocket.py DIR"""

from __future__ import annotations

import os
import sys
from pathlib import Path

folder = Path(sys.argv[1])
hub = folder / "hub"
os.environ["HF_HUB_CACHE"] = str(hub)

import numpy as np
import safetensors.torch
import tokenizers
import torch
import yaml
from pocket_tts import TTSModel

from s2s.core.audio import write_wav
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.pocket import MODELS, VOICES, Pocket, PocketConfig
from tests.voices.checks import check, check_as_others, fails, sound, tell

REVISION = "0123456789abcdef0123456789abcdef01234567"
REPO = hub / "models--someone--tiny-pocket" / "snapshots" / REVISION


def small(weights: str | None, tokenizer: str) -> dict[str, object]:
    """The published config with small numbers."""
    import pocket_tts

    config = yaml.safe_load(
        (Path(pocket_tts.__file__).parent / "config" / "english.yaml").read_text("utf-8")
    )
    config["weights_path"] = weights
    config.pop("weights_path_without_voice_cloning")
    lm, mimi = config["flow_lm"], config["mimi"]
    lm["flow"].update(depth=2, dim=32)
    lm["transformer"].update(d_model=32, num_heads=4, num_layers=2, hidden_scale=2)
    lm["lookup_table"].update(dim=32, n_bins=128, tokenizer_path=tokenizer)
    mimi["seanet"].update(dimension=32, n_filters=4)
    mimi["transformer"].update(
        d_model=32, num_heads=4, num_layers=1, dim_feedforward=32, input_dimension=32,
        output_dimensions=[32],
    )  # fmt: skip
    mimi["quantizer"].update(dimension=8, output_dimension=32)
    mimi.update(inner_dim=8, outer_dim=32)
    return config


def make() -> str:
    """The model in a local hub cache, as the hub client leaves it; gives its config's path."""
    REPO.mkdir(parents=True)
    letters = {chr(number): number for number in range(128)}
    model = tokenizers.models.WordLevel(letters, unk_token="?")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    tokenizer.save(str(REPO / "tokenizer.json"))
    plain = folder / "plain.yaml"
    plain.write_text(yaml.safe_dump(small(None, str(REPO / "tokenizer.json"))), encoding="utf-8")
    torch.manual_seed(1)
    random = TTSModel.load_model(config=plain)
    safetensors.torch.save_file(
        {name: value.contiguous() for name, value in random.state_dict().items()},
        REPO / "model.safetensors",
    )
    path = folder / "tiny.yaml"
    address = "hf://someone/tiny-pocket"
    told = small(f"{address}/model.safetensors@{REVISION}", f"{address}/tokenizer.json@{REVISION}")
    path.write_text(yaml.safe_dump(told), encoding="utf-8")
    return str(path)


config = make()
recording = folder / "me.wav"
noise = np.random.default_rng(0).standard_normal(24_000).astype(np.float32)
write_wav(recording, 0.1 * noise, 24_000)
resources = Resources(Store(folder / "store", manifest={}))


def pocket(**options: object) -> Pocket:
    return Pocket(PocketConfig(model=config, voice=str(recording), **options), resources)  # type: ignore[arg-type]


voice = pocket(seed=1)
voice.warm()
check_as_others(voice)
sizes = {len(chunk.samples) for chunk in voice.synthesize("One two three.") if len(chunk.samples)}
check("frames of 80 ms", min(sizes) == 1920 and all(size % 1920 == 0 for size in sizes))
check("a seed repeats", np.allclose(sound(voice), sound(voice), atol=1e-5))
check("no other language of a model of one's own", not voice.offers("de") and voice.prepare("en"))
check("a clone", voice.capabilities.cloning)
check(
    "needs a recording", fails(lambda: Pocket(PocketConfig(model=config), resources), "recording")
)
check("no such language", fails(lambda: Pocket(PocketConfig("sv"), resources), "sv"))
check(
    "a hub that has it not",
    fails(lambda: Pocket(PocketConfig("en"), resources), "cannot be loaded"),
)
from pocket_tts.utils import utils
from pocket_tts.utils.config import CONFIGS_DIR

check("its voices", set(VOICES) == set(vars(utils)["_ORIGINS_OF_PREDEFINED_VOICES"]))
check("its models", all((CONFIGS_DIR / f"{name}.yaml").is_file() for name, _ in MODELS.values()))
voice.close()
check("closed", fails(lambda: sound(voice), "closed"))
tell()
