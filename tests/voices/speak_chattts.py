"""Speaks with ChatTTS itself, on a small random model in its layout: speak_chattts.py DIR

The package knows the hashes of the published files and the sizes of the published networks; both
are replaced by those of the small model, and nothing else is.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

# Its C++ part is built for a torch with CUDA; ChatTTS uses none of it.
for _library in (Path(find_spec("torchaudio").origin).parent / "lib").glob("*.so"):  # type: ignore
    _library.unlink()

import ChatTTS
import numpy as np
import safetensors.torch
import torch
from ChatTTS.config import Config
from ChatTTS.config import config as sizes
from ChatTTS.model import DVAE, Embed
from transformers import BertTokenizerFast, LlamaConfig, LlamaModel
from vocos import Vocos
from vocos.pretrained import instantiate_class

from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.chattts import ChatTts, ChatTtsConfig
from tests.voices.checks import check, check_as_others, fails, sound, tell

folder = Path(sys.argv[1])
model = folder / "model"
asset = model / "asset"
WIDTH, AUDIO_TOKENS = 768, 626
"""As published: a speaker is drawn with so many numbers."""

MARKS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[Sbreak]", "[Pbreak]", "[Ebreak]", "[Stts]",
    "[Ptts]", "[spk_emb]", "[empty_spk]", *(f"[speed_{n}]" for n in range(10)), "[uv_break]",
    "[break_0]", "[break_1]",
]  # fmt: skip


def small() -> Config:
    """The published networks with small numbers."""
    decoder = {"hidden": 16, "n_layer": 1, "bn_dim": 8}
    llama = {"intermediate_size": 32, "num_attention_heads": 4, "num_hidden_layers": 1}
    texts = {"num_text_tokens": 256}
    backbone = sizes.BackboneInitArgs(dim=16, intermediate_dim=32, num_layers=1)
    return Config(
        decoder=sizes.Decoder(idim=WIDTH // 2, odim=WIDTH // 2, **decoder),
        dvae=sizes.DVAE(
            encoder=sizes.Decoder(idim=512, odim=1024, **decoder),
            decoder=sizes.Decoder(idim=512, odim=512, **decoder),
        ),
        gpt=sizes.GPT(hidden_size=WIDTH, **llama, **texts),
        embed=sizes.Embed(hidden_size=WIDTH, **texts),
        vocos=sizes.Vocos(
            backbone=sizes.Backbone(init_args=backbone),
            head=sizes.FourierHead(init_args=sizes.FourierHeadInitArgs(dim=16)),
        ),
    )


def save(network: torch.nn.Module, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = {name: value.clone().contiguous() for name, value in network.state_dict().items()}
    safetensors.torch.save_file(tensors, path)


def make(config: Config) -> dict[str, str]:
    """Write the model; gives the hashes by their names in the package's list."""
    torch.manual_seed(1)
    save(Embed(**asdict(config.embed)), asset / "Embed.safetensors")
    save(DVAE(asdict(config.decoder), dim=config.decoder.idim), asset / "Decoder.safetensors")
    dvae = config.dvae
    networks = (asdict(dvae.decoder), asdict(dvae.encoder), asdict(dvae.vq))
    save(DVAE(*networks, dim=dvae.decoder.idim), asset / "DVAE.safetensors")
    parts = (config.vocos.feature_extractor, config.vocos.backbone, config.vocos.head)
    vocos = Vocos(*(instantiate_class((), asdict(part)) for part in parts))
    save(vocos, asset / "Vocos.safetensors")
    llama = LlamaModel(LlamaConfig(**asdict(config.gpt), vocab_size=8))
    llama.save_pretrained(asset / "gpt")
    (asset / "tokenizer").mkdir()
    vocabulary = folder / "vocab.txt"
    letters = [chr(number) for number in range(97, 123)]
    words = [*MARKS, *letters, *(f"##{letter}" for letter in letters), ",", ".", "，", "。"]
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(str(vocabulary), additional_special_tokens=MARKS[5:]).save_pretrained(
        asset / "tokenizer", legacy_format=False
    )
    hashes: dict[str, str] = {}
    for path in asset.rglob("*"):
        if path.is_file():
            parts_of_name = [*path.relative_to(model).parts[:-1], path.name.replace(".", "_")]
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            hashes["sha256_" + "_".join(parts_of_name)] = digest
    return hashes


config = small()
hashes = make(config)
published = json.loads(
    (Path(ChatTTS.__file__).parent / "res" / "sha256_map.json").read_text("utf-8")
)
original = ChatTTS.Chat.__init__


def of_the_small_model(self: ChatTTS.Chat, *arguments: object) -> None:
    original(self, *arguments)
    self.config, self.sha256_map = config, hashes


ChatTTS.Chat.__init__ = of_the_small_model
resources = Resources(Store(folder / "store", manifest={}), threads=1)


def chattts(**options: object) -> ChatTts:
    return ChatTts(ChatTtsConfig(model=str(model), **options), resources)  # type: ignore[arg-type]


voice = chattts(voice="7", seed=1)
voice.warm()
check_as_others(voice)
check("all files of the layout", set(published) <= set(hashes))
check("a seed repeats", np.allclose(sound(voice), sound(voice), atol=1e-4))
same, other = chattts(voice="8", seed=1), sound(voice, voice="3")
check("a number is a speaker", np.allclose(sound(same, voice="7"), sound(voice), atol=1e-4))
check(
    "another number is another one",
    other.shape != sound(voice).shape or not np.allclose(other, sound(voice), atol=1e-4),
)
torch.manual_seed(5)
expected = torch.rand(3)
torch.manual_seed(5)
sound(voice, voice="4")
check("draws of others stay", torch.equal(torch.rand(3), expected))
drawn = chattts()
check("a speaker is drawn", drawn.capabilities.voices[0].isdigit())
check("and kept", drawn.capabilities.voices == drawn.capabilities.voices)
quick = chattts(voice="7", seed=1, speed=2.0)
check("twice as fast", 0.4 < sound(quick).size / sound(voice).size < 0.6)
refined = chattts(voice="7", refine=True)
check("refined", sound(refined).size)
for file in ("Vocos.safetensors", "tokenizer/tokenizer.json"):
    content = (asset / file).read_bytes()
    (asset / file).write_bytes(content + b" ")
    check(f"another {file}", fails(chattts, "is not the model that the package expects"))
    (asset / file).write_bytes(content)
for each in (voice, same, drawn, quick, refined):
    each.close()
check("closed", fails(lambda: sound(voice), "closed"))
tell()
