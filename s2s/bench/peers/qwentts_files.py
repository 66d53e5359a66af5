"""Write a checkpoint of the official layout as the two GGUF files that qwentts.cpp reads.

    python s2s/bench/peers/qwentts_files.py CHECKPOINT OUT --quant q8_0

Makes OUT/talker-QUANT.gguf and OUT/tokenizer-QUANT.gguf, for benchmark_qwen3_peers.py: with random
weights there is no published file to take. Names of tensors and keys are those that the library
asks for; which type each tensor has is as in its published files: matrices quantised, embeddings
q8_0 or q6_k, convolutions f16, codebooks and vectors f32.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from s2s.bench.entry import existing_folder, run_measurement
from s2s.core.arrays import Floats
from s2s.tts.qwen3.checkpoint import (
    TYPES,
    Bytes,
    Checkpoint,
    NewTensor,
    TensorType,
    Value,
    fitting,
    k_quantize,
    quantize,
    write,
)

MATRICES = {"q8_0": "q8_0", "q4_k_m": "q4_k"}
EMBEDDINGS = {"q8_0": "q8_0", "q4_k_m": "q6_k"}
ROWS_A_PIECE = 4096

LAYER = (
    (r"input_layernorm", "attn_norm"),
    (r"post_attention_layernorm", "ffn_norm"),
    (r"self_attn\.([qkv])_proj", r"attn_\1"),
    (r"self_attn\.o_proj", "attn_output"),
    (r"self_attn\.([qk])_norm", r"attn_\1_norm"),
    (r"mlp\.(gate|up|down)_proj", r"ffn_\1"),
    (r"mlp\.fc1", "ffn_up"),
    (r"mlp\.fc2", "ffn_down"),
    (r"self_attn_layer_scale\.scale", "attn_scale"),
    (r"mlp_layer_scale\.scale", "ffn_scale"),
)
TALKER = (
    (r"^talker\.code_predictor\.model\.layers\.", "code_pred.blk."),
    (r"^talker\.code_predictor\.model\.codec_embedding\.", "code_pred.codec_embd."),
    (r"^talker\.code_predictor\.model\.norm\.", "code_pred.output_norm."),
    (r"^talker\.code_predictor\.small_to_mtp_projection\.", "code_pred.mtp_proj."),
    (r"^talker\.code_predictor\.", "code_pred."),
    (r"^talker\.model\.layers\.", "talker.blk."),
    (r"^talker\.model\.(text|codec)_embedding\.", r"talker.\1_embd."),
    (r"^talker\.model\.norm\.", "talker.output_norm."),
    (r"^talker\.text_projection\.linear_", "talker.text_proj."),
    (r"^speaker_encoder\.blocks\.0\.conv\.", "spk_enc.conv0."),
    (r"^speaker_encoder\.blocks\.", "spk_enc.blk."),
    (r"^speaker_encoder\.", "spk_enc."),
    (r"\.res2net_block\.blocks\.(\d)\.conv\.", r".res2net.\1."),
    (r"\.se_block\.", ".se."),
    (r"\.(tdnn\d?|mfa)\.conv\.", r".\1."),
)
CODEC = (
    (r"^decoder\.pre_transformer\.layers\.", "tok_dec.pre_tfm.blk."),
    (r"^decoder\.pre_transformer\.", "tok_dec.pre_tfm."),
    (r"^decoder\.pre_conv\.conv\.", "tok_dec.pre_conv."),
    (r"^decoder\.upsample\.(\d)\.0\.conv\.", r"tok_dec.upsample.\1.conv."),
    (r"^decoder\.upsample\.(\d)\.1\.dwconv\.conv\.", r"tok_dec.upsample.\1.dwconv."),
    (r"^decoder\.upsample\.(\d)\.1\.", r"tok_dec.upsample.\1."),
    (r"^decoder\.decoder\.5\.", "tok_dec.dec.5.snake."),
    (r"^decoder\.decoder\.", "tok_dec.dec."),
    (r"^(tok_dec\.dec\.\d)\.block\.0\.", r"\1.snake."),
    (r"^(tok_dec\.dec\.\d)\.block\.1\.conv\.", r"\1.conv_t."),
    (r"^(tok_dec\.dec\.\d)\.block\.2\.", r"\1.res.0."),  # residual units
    (r"^(tok_dec\.dec\.\d)\.block\.3\.", r"\1.res.1."),
    (r"^(tok_dec\.dec\.\d)\.block\.4\.", r"\1.res.2."),
    (r"^(tok_dec\.dec\..+\.conv\d)\.conv\.", r"\1."),
    (r"^decoder\.quantizer\.rvq_(first|rest)\.output_proj\.", r"tok_dec.vq_\1.output_proj."),
    (r"^decoder\.quantizer\.rvq_(first|rest)\.vq\.layers\.", r"tok_dec.vq_\1."),
    (r"^encoder\.encoder\.layers\.(\d+)\.conv\.", r"tok_enc.conv.\1."),
    (r"^encoder\.encoder\.layers\.(\d+)\.block\.(\d)\.conv\.", r"tok_enc.res.\1.blk.\2."),
    (r"^encoder\.encoder_transformer\.layers\.", "tok_enc.blk."),
    (r"^encoder\.downsample\.conv\.", "tok_enc.downsample."),
    (r"^encoder\.quantizer\.(\w+)_residual_vector_quantizer\.(layers\.)?", r"tok_enc.vq_\1."),
    (r"\._?codebook\.embed(ding)?_sum$", ".codebook"),
)
"""Official names to those in the files: what is to be replaced by what, in this order."""

PREFIXES = ("talker.", "code_pred.", "spk_enc.", "tok_dec.", "tok_enc.")
UNWANTED = ("cluster_usage", "initialized")


def renamed(name: str, rules: tuple[tuple[str, str], ...]) -> str | None:
    """The name in the files; None for a tensor that has no place in them."""
    for pattern, target in (*rules, *LAYER):
        name = re.sub(pattern, target, name)
    return name if name.startswith(PREFIXES) and not name.endswith(UNWANTED) else None


def tensors(
    weights: Checkpoint, rules: tuple[tuple[str, str], ...], quant: str
) -> Iterator[NewTensor]:
    """Every tensor of a file, made when it is written."""
    for name in weights.names:
        target = renamed(name, rules)
        if target is None:
            continue
        shape = weights.shape(name)
        kind = type_of(target, shape, quant)
        yield NewTensor(target, shape, kind, partial(pieces, weights, name, kind))


def type_of(target: str, shape: tuple[int, ...], quant: str) -> TensorType:
    """How a tensor is stored."""
    if "vq_" in target or target == "spk_enc.fc.weight":
        return TYPES["f32"]
    if "embd" in target:
        return fitting(EMBEDDINGS[quant], shape[-1])
    match len(shape):
        case 2:
            return fitting(MATRICES[quant], shape[-1])
        case 3:
            return TYPES["f16"]
        case _:
            return TYPES["f32"]


def pieces(weights: Checkpoint, name: str, kind: TensorType) -> Iterator[Bytes]:
    """A tensor's bytes, a large matrix some rows at a time."""
    shape = weights.shape(name)
    if len(shape) == 2 and shape[0] > ROWS_A_PIECE:
        for start in range(0, shape[0], ROWS_A_PIECE):
            rows = weights.rows(name, start, min(start + ROWS_A_PIECE, shape[0]))
            yield quantize(rows, kind, k_quantize)
    else:
        yield quantize(whole(weights, name).reshape(-1, shape[-1]), kind, k_quantize)


def whole(weights: Checkpoint, name: str) -> Floats:
    """A tensor's values, codebooks divided by their usage."""
    values = weights.load(name)
    if name.endswith(("embedding_sum", "embed_sum")):
        usage = weights.load(re.sub(r"embed(ding)?_sum$", "cluster_usage", name))
        values /= np.maximum(usage, np.float32(1e-5))[:, None]
    return values


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file with an object in it."""
    return json.loads(path.read_text(encoding="utf-8"))


def decoder_keys(prefix: str, config: dict[str, Any]) -> dict[str, Value]:
    """One transformer stack of the language model."""
    return {
        f"{prefix}.block_count": config["num_hidden_layers"],
        f"{prefix}.embedding_length": config["hidden_size"],
        f"{prefix}.feed_forward_length": config["intermediate_size"],
        f"{prefix}.attention.head_count": config["num_attention_heads"],
        f"{prefix}.attention.head_count_kv": config["num_key_value_heads"],
        f"{prefix}.attention.key_length": config["head_dim"],
        f"{prefix}.attention.layer_norm_rms_epsilon": float(config["rms_norm_eps"]),
        f"{prefix}.rope.freq_base": float(config["rope_theta"]),
        f"{prefix}.vocab_size": config["vocab_size"],
    }


def talker_metadata(folder: Path) -> dict[str, Value]:
    """Keys of the talker's file, tokenizer included."""
    config = read_json(folder / "config.json")
    talker = config["talker_config"]
    found: dict[str, Value] = {
        "general.architecture": "qwen3-tts",
        "general.name": "random",
        "qwen3-tts.model_type": config["tts_model_type"],
        "qwen3-tts.model_size": config["tts_model_size"],
        "qwen3-tts.tokenizer_type": config["tokenizer_type"],
        "qwen3-tts.num_code_groups": talker["num_code_groups"],
        **decoder_keys("qwen3-tts.talker", talker),
        "qwen3-tts.talker.rope.mrope_interleaved": True,
        "qwen3-tts.talker.rope.mrope_section": talker["rope_scaling"]["mrope_section"],
        "qwen3-tts.talker.text_hidden_size": talker["text_hidden_size"],
        "qwen3-tts.talker.text_vocab_size": talker["text_vocab_size"],
        **decoder_keys("qwen3-tts.code_pred", talker["code_predictor_config"]),
        "qwen3-tts.codec.language_names": list(talker["codec_language_id"]),
        "qwen3-tts.codec.language_ids": list(talker["codec_language_id"].values()),
        "qwen3-tts.text.im_start_id": config["im_start_token_id"],
        "qwen3-tts.text.im_end_id": config["im_end_token_id"],
    }
    for key in ("pad", "bos", "think", "nothink", "think_bos", "think_eos"):
        found[f"qwen3-tts.codec.{key}_id"] = talker[f"codec_{key}_id"]
    found["qwen3-tts.codec.eos_id"] = talker["codec_eos_token_id"]
    for key in ("bos", "eos", "pad"):
        found[f"qwen3-tts.text.tts_{key}_id"] = config[f"tts_{key}_token_id"]
    if "speaker_encoder_config" in config:
        speaker = config["speaker_encoder_config"]
        found["qwen3-tts.spk_enc.embedding_length"] = speaker["enc_dim"]
        found["qwen3-tts.spk_enc.sample_rate"] = speaker["sample_rate"]
    for key, value in read_json(folder / "generation_config.json").items():
        if isinstance(value, bool | int | float):
            found[f"generation.{key}"] = value
    return found | tokenizer_keys(folder, talker["text_vocab_size"])


def tokenizer_keys(folder: Path, size: int) -> dict[str, Value]:
    """A byte-level BPE tokenizer; ids without a token get a name of their own."""
    vocabulary = read_json(folder / "vocab.json")
    added = read_json(folder / "tokenizer_config.json")["added_tokens_decoder"]
    tokens = [f"[unused{at}]" for at in range(size)]
    kinds = [5] * size  # unused
    for token, at in vocabulary.items():
        tokens[at], kinds[at] = token, 1
    for at, entry in added.items():
        tokens[int(at)], kinds[int(at)] = entry["content"], 3
    merges = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
    names = {entry["content"]: int(at) for at, entry in added.items()}
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": list(tokens),
        "tokenizer.ggml.token_type": list(kinds),
        "tokenizer.ggml.merges": [line for line in merges if line and not line.startswith("#")],
        "tokenizer.ggml.eos_token_id": names["<|im_end|>"],
    }


def codec_metadata(folder: Path) -> dict[str, Value]:
    """Keys of the speech tokenizer's file: its configuration, field by field."""
    config = read_json(folder / "config.json")
    found: dict[str, Value] = {
        "general.architecture": "qwen3-tts-tokenizer",
        "general.name": "random",
    }
    for part in ("decoder", "encoder"):
        for key, value in config[f"{part}_config"].items():
            if key in ("rope_theta", "rms_norm_eps", "norm_eps"):
                found[f"qwen3-tts-tokenizer.{part}.{key}"] = float(value)
            elif isinstance(value, bool | int | float | list):
                found[f"qwen3-tts-tokenizer.{part}.{key}"] = value
    size = config["decoder_config"]["codebook_dim"]
    found["qwen3-tts-tokenizer.decoder.codebook_dim_internal"] = size // 2
    found["qwen3-tts-tokenizer.decoder.vector_quantization_hidden_dim"] = size
    wide = config["encoder_config"]["vector_quantization_hidden_dimension"]
    found["qwen3-tts-tokenizer.encoder.vector_quantization_hidden_dim"] = wide
    return found


def make(checkpoint: Path, out: Path, quant: str) -> tuple[Path, Path]:
    """Both files; what is there stays."""
    out.mkdir(parents=True, exist_ok=True)
    codec = checkpoint / "speech_tokenizer"
    plans = (
        (out / f"talker-{quant}.gguf", talker_metadata(checkpoint), checkpoint, TALKER),
        (out / f"tokenizer-{quant}.gguf", codec_metadata(codec), codec, CODEC),
    )
    for path, metadata, folder, rules in plans:
        if not path.is_file():
            part = path.with_suffix(".part")
            write(part, metadata, list(tensors(Checkpoint(folder), rules, quant)))
            part.rename(path)
    return plans[0][0], plans[1][0]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("checkpoint", type=existing_folder)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quant", choices=list(MATRICES), default="q8_0")
    arguments = parser.parse_args()
    for path in make(arguments.checkpoint, arguments.out, arguments.quant):
        print(path)


if __name__ == "__main__":
    sys.exit(run_measurement(main))
