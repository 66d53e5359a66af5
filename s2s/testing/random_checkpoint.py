"""Write a Qwen3-TTS checkpoint with random weights, in the official layout.

    python -m s2s.testing.random_checkpoint OUT --kind 1.7b-customvoice --tiny
    python -m s2s.testing.random_checkpoint OUT --kind 0.6b-base            # full size, 2.5 GB
    python -m s2s.testing.random_checkpoint OUT --kind 0.6b-customvoice --ends

A tiny one (a few MB) takes every path of its kind: grouped-query attention, the projection into
the predictor of the 1.7B models, dialects, 16 codebooks. A full one has the published shapes and
is for speed. With --ends speech ends after a length that fits its text, as a trained model's does
(how: `ending_weights`); without it random weights hardly ever end. The codes mean nothing either
way. The same arguments give the same bytes: golden values rest on that. Only numpy is needed;
weights are streamed to disk a tensor at a time.

The tensors are in `random_tensors`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from s2s.testing.ending_weights import with_ends
from s2s.testing.patches import RandomTensor
from s2s.testing.random_tensors import (
    KINDS,
    SPECIAL_TOKENS,
    codec_config,
    codec_decoder_tensors,
    codec_encoder_tensors,
    main_tensors,
    model_config,
)

FIRST_SPECIAL = 151643  # of the published tokenizer; full checkpoints keep it
CORPUS = (
    "user user system system The quick brown fox jumps over the lazy dog, and then the other one.",
    "Hello there, how are you today? I don't know what they're doing; we'll see that it's done.",
    "Guten Tag, wie geht es Ihnen? Das ist eine schöne Stimme, die über das Wetter spricht.",
    "Bonjour, comment ça va aujourd'hui ? C'est la voix de l'été, très claire et légère.",
    "Hola, ¿cómo estás? Mañana será un buen día para los niños y para todos.",
    "Buongiorno, come stai? Perché la città è così bella questa mattina?",
    "Olá, como vai você? A canção não está aqui, está no coração.",
    "Привет, как дела? Сегодня хорошая погода, и мы говорим по-русски.",
    "你好，今天天气怎么样？我们一起去公园吧。我叫通义千问，是阿里云的大模型。",
    "こんにちは、お元気ですか？今日はとても良い天気ですね。ありがとうございます。",
    "안녕하세요, 오늘 날씨가 어떻습니까? 감사합니다. 만나서 반갑습니다.",
)


def write_safetensors(path: Path, tensors: list[RandomTensor], dtype: str, seed: int) -> None:
    """Stream random tensors to a safetensors file. dtype: "F32" or "BF16"."""
    width = {"F32": 4, "BF16": 2}[dtype]
    header: dict[str, dict[str, Any]] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for tensor in tensors:
        end = offset + width * math.prod(tensor.shape)
        header[tensor.name] = {
            "dtype": dtype,
            "shape": list(tensor.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for tensor in tensors:
            for block in blocks(tensor, seed):
                file.write(block.tobytes() if dtype == "F32" else to_bfloat16(block).tobytes())


BLOCK_VALUES = 1 << 22


def blocks(tensor: RandomTensor, seed: int, block: int = BLOCK_VALUES) -> Iterator[np.ndarray]:
    """The values of a tensor, float32, flat, in blocks: random but for its patches."""
    start = 0
    for values in random_blocks(tensor, seed, block):
        for patch in tensor.patches:
            patch.apply(values, start)
        start += values.size
        yield values


def random_blocks(tensor: RandomTensor, seed: int, block: int) -> Iterator[np.ndarray]:
    """The values of a tensor, float32, flat, in blocks: uniform, from the seed and the name."""
    random = np.random.Generator(np.random.PCG64([seed, zlib.crc32(tensor.name.encode())]))
    half_range = np.float32(tensor.scale * math.sqrt(3))
    left = math.prod(tensor.shape)
    while left:
        unit = random.random(min(left, block), dtype=np.float32)
        left -= unit.size
        yield (unit * np.float32(2) - np.float32(1)) * half_range + np.float32(tensor.mean)


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """float32 to bfloat16 bit patterns (uint16), rounding to nearest even."""
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def byte_characters() -> list[str]:
    """The printable stand-in of each byte, as in GPT-2's byte-level BPE."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {byte: chr(byte) for byte in printable}
    table |= {byte: chr(256 + at) for at, byte in enumerate(others)}
    return [table[byte] for byte in range(256)]


def train_merges(count: int) -> list[tuple[str, str]]:
    """Byte-pair merges for CORPUS. The first ones build "assistant", which must be one token."""
    characters = byte_characters()
    role = "assistant"
    merges = [(role[:at], role[at]) for at in range(1, len(role))]
    words: Counter[tuple[str, ...]] = Counter(
        tuple(characters[byte] for byte in word[0].encode())
        for line in CORPUS
        for word in re.finditer(r"\s?\w+|[^\w\s]+|\s+", line)
    )
    while len(merges) < count:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, times in words.items():
            for pair in itertools.pairwise(word):
                pairs[pair] += times
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        words = Counter({merged(word, best): times for word, times in words.items()})
    return list(dict.fromkeys(merges))  # a pair of the role may come up again


def merged(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    """The word with every occurrence of the pair joined."""
    out: list[str] = []
    for symbol in word:
        if out and (out[-1], symbol) == pair:
            out[-1] += symbol
        else:
            out.append(symbol)
    return tuple(out)


def write_tokenizer(folder: Path, tiny: bool) -> int:
    """vocab.json, merges.txt, tokenizer_config.json; returns the id of the first special token."""
    merges = train_merges(400)
    printable = sorted(byte_characters())
    tokens = dict.fromkeys([*printable, *(a + b for a, b in merges)])
    vocabulary = {token: at for at, token in enumerate(tokens)}
    first = len(vocabulary) if tiny else FIRST_SPECIAL
    added = {
        str(first + at): {"content": token, "lstrip": False, "normalized": False, "rstrip": False,
                          "single_word": False, "special": True}
        for at, token in enumerate(SPECIAL_TOKENS)
    }  # fmt: skip
    if not tiny:  # ids in between have no token: keep the special ones where they are published
        vocabulary |= {token: first + at for at, token in enumerate(SPECIAL_TOKENS)}
    write_json(folder / "vocab.json", vocabulary)
    lines = ["#version: 0.2", *(f"{a} {b}" for a, b in merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": False, "bos_token": None,
            "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None,
            "errors": "replace", "model_max_length": 131072, "split_special_tokens": False,
            "clean_up_tokenization_spaces": False, "added_tokens_decoder": added,
            "additional_special_tokens": list(SPECIAL_TOKENS[1:14]),
        },
    )  # fmt: skip
    return first


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Readable JSON."""
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_checkpoint(
    folder: Path, kind: str, tiny: bool = True, seed: int = 0, *, ends: bool = False
) -> Path:
    """The whole checkpoint; returns ``folder``. ends: speech is as long as its text needs."""
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}; known: {', '.join(KINDS)}")
    codec = folder / "speech_tokenizer"
    codec.mkdir(parents=True, exist_ok=True)
    config = model_config(kind, tiny, write_tokenizer(folder, tiny))
    write_json(folder / "config.json", config)
    write_json(
        folder / "generation_config.json",
        {
            "do_sample": True, "repetition_penalty": 1.05, "temperature": 0.9, "top_p": 1.0,
            "top_k": 50, "subtalker_dosample": True, "subtalker_temperature": 0.9,
            "subtalker_top_p": 1.0, "subtalker_top_k": 50, "max_new_tokens": 8192,
        },
    )  # fmt: skip
    write_json(
        folder / "preprocessor_config.json",
        {"padding_side": "left", "padding_value": 0.0, "processor_class": "Qwen3TTSProcessor",
         "return_attention_mask": True},
    )  # fmt: skip
    tensors = main_tensors(config)
    if ends:
        vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        tensors = with_ends(tensors, config, vocabulary)
    write_safetensors(folder / "model.safetensors", list(tensors), "BF16", seed)
    write_codec(codec, tiny, seed)
    return folder


def write_codec(folder: Path, tiny: bool = True, seed: int = 0) -> Path:
    """The speech tokenizer alone; returns ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    config = codec_config(tiny)
    write_json(folder / "config.json", config)
    write_json(
        folder / "preprocessor_config.json",
        {"feature_extractor_type": "EncodecFeatureExtractor", "feature_size": 1,
         "sampling_rate": 24000, "padding_side": "right", "padding_value": 0.0,
         "return_attention_mask": True, "chunk_length_s": None, "overlap": None},
    )  # fmt: skip
    tensors = [
        *codec_decoder_tensors(config["decoder_config"]),
        *codec_encoder_tensors(config["encoder_config"]),
    ]
    write_safetensors(folder / "model.safetensors", tensors, "F32", seed)
    return folder


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--tiny", action="store_true", help="a few MB instead of the real size")
    parser.add_argument("--ends", action="store_true", help="speech ends when its text is said")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    write_checkpoint(
        arguments.out, arguments.kind, arguments.tiny, arguments.seed, ends=arguments.ends
    )
    print(f"wrote {arguments.kind} to {arguments.out}")


if __name__ == "__main__":
    main()
