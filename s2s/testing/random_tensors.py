"""Configs of the Qwen3-TTS-12Hz models, and every tensor of their official layout with a scale.

Names and shapes: the published config.json and model.safetensors. Knows no files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from s2s.testing.patches import RandomTensor

KINDS = ("0.6b-base", "0.6b-customvoice", "1.7b-base", "1.7b-customvoice", "1.7b-voicedesign")
GROUPS = 16
CONTROL_IDS = 1024  # rows of the codec vocabulary after the audio codes
LANGUAGES = {  # offsets behind the audio codes
    "chinese": 7, "english": 2, "german": 5, "italian": 22, "portuguese": 23, "spanish": 6,
    "japanese": 10, "korean": 16, "french": 13, "russian": 21,
    "beijing_dialect": 26, "sichuan_dialect": 14,
}  # fmt: skip
SPEAKERS = {
    "serena": 1018, "vivian": 1017, "uncle_fu": 962, "ryan": 1013, "aiden": 813,
    "ono_anna": 825, "sohee": 816, "eric": 827, "dylan": 830,
}  # fmt: skip
DIALECTS: dict[str, str | bool] = {"eric": "sichuan_dialect", "dylan": "beijing_dialect"}


SPECIAL_TOKENS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>",
    "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<tool_call>",
    "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
    "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>",
    "<|audio_start|>", "<|audio_end|>", "<tts_pad>", "<tts_text_bos>", "<tts_text_eod>",
    "<tts_text_bos_single>", "<|audio_pad|>",
)  # fmt: skip


FIRST_CODE_SCALE, LATER_CODE_SCALE = 0.5, 0.25
"""Of the talker's embeddings of a frame's first code, and of each of the others."""


# --- configuration -----------------------------------------------------------------------------


def model_config(kind: str, tiny: bool, first_special: int) -> dict[str, Any]:
    """The content of config.json."""
    size, flavour = kind.split("-")
    large = size == "1.7b"
    codes = 64 if tiny else 2048
    small = 256 if tiny else 1024
    hidden = small * (2 if large else 1)
    heads = (
        {"num_attention_heads": 4, "num_key_value_heads": 2}
        if tiny
        else {"num_attention_heads": 16, "num_key_value_heads": 8}
    )
    shared = {
        **heads, "head_dim": 128, "attention_bias": False, "attention_dropout": 0,
        "hidden_act": "silu", "initializer_range": 0.02, "num_code_groups": GROUPS,
        "rms_norm_eps": 1e-06, "rope_theta": 1000000, "use_sliding_window": False,
        "use_cache": True, "tie_word_embeddings": False,
    }  # fmt: skip
    special = dict(zip(SPECIAL_TOKENS, range(first_special, first_special + 33), strict=True))
    speakers = SPEAKERS if flavour == "customvoice" else {}
    talker = {
        **shared, "model_type": "qwen3_tts_talker", "vocab_size": codes + CONTROL_IDS,
        "hidden_size": hidden,
        "intermediate_size": (256 if tiny else 3 * hidden),
        "num_hidden_layers": 2 if tiny else 28, "max_position_embeddings": 32768,
        "text_hidden_size": 64 if tiny else 2048,
        "text_vocab_size": _round_up(first_special + 33, 64) if tiny else 151936,
        "position_id_per_seconds": 13, "pad_token_id": codes + 100,
        "rope_scaling": {"interleaved": True, "mrope_section": [24, 20, 20],
                         "rope_type": "default", "type": "default"},
        "codec_pad_id": codes + 100, "codec_bos_id": codes + 101, "codec_eos_token_id": codes + 102,
        "codec_think_id": codes + 106, "codec_nothink_id": codes + 107,
        "codec_think_bos_id": codes + 108, "codec_think_eos_id": codes + 109,
        "codec_language_id": {name: codes + at for name, at in LANGUAGES.items()},
        "spk_id": {name: codes + at for name, at in speakers.items()},
        "spk_is_dialect": {name: DIALECTS.get(name, False) for name in speakers},
        "code_predictor_config": {
            **shared, "model_type": "qwen3_tts_talker_code_predictor", "vocab_size": codes,
            "hidden_size": small, "intermediate_size": 256 if tiny else 3072,
            "num_hidden_layers": 2 if tiny else 5, "max_position_embeddings": 65536,
            "rope_scaling": None, "sliding_window": None, "max_window_layers": 28,
        },
    }  # fmt: skip
    config = {
        "architectures": ["Qwen3TTSForConditionalGeneration"], "model_type": "qwen3_tts",
        "tokenizer_type": "qwen3_tts_tokenizer_12hz", "tts_model_size": "1b7" if large else "0b6",
        "tts_model_type": {"base": "base", "customvoice": "custom_voice",
                           "voicedesign": "voice_design"}[flavour],
        "im_start_token_id": special["<|im_start|>"], "im_end_token_id": special["<|im_end|>"],
        "tts_pad_token_id": special["<tts_pad>"], "tts_bos_token_id": special["<tts_text_bos>"],
        "tts_eos_token_id": special["<tts_text_eod>"], "talker_config": talker,
        # Later versions make transformers swap the tokenizer's regular expression for Mistral's
        # when it loads from a local folder.
        "transformers_version": "4.57.1",
    }  # fmt: skip
    if flavour == "base":
        config["speaker_encoder_config"] = _speaker_encoder_config(hidden, tiny)
    return config


def _speaker_encoder_config(hidden: int, tiny: bool) -> dict[str, Any]:
    config: dict[str, object] = {"enc_dim": hidden, "sample_rate": 24000}
    if tiny:
        config |= {
            "enc_channels": [64, 64, 64, 64, 192], "enc_attention_channels": 16,
            "enc_se_channels": 16,
        }  # fmt: skip
    return config


def codec_config(tiny: bool) -> dict[str, Any]:
    """The content of speech_tokenizer/config.json."""
    codes = 64 if tiny else 2048
    decoder = {
        "codebook_size": codes, "num_quantizers": GROUPS, "num_semantic_quantizers": 1,
        "codebook_dim": 32 if tiny else 512, "latent_dim": 64 if tiny else 1024,
        "hidden_size": 32 if tiny else 512, "intermediate_size": 64 if tiny else 1024,
        "num_attention_heads": 4 if tiny else 16, "num_key_value_heads": 4 if tiny else 16,
        "head_dim": 16 if tiny else 64, "num_hidden_layers": 2 if tiny else 8,
        "decoder_dim": 64 if tiny else 1536, "upsample_rates": [8, 5, 4, 3],
        "upsampling_ratios": [2, 2], "sliding_window": 72, "rope_theta": 10000,
        "rms_norm_eps": 1e-05, "max_position_embeddings": 8000, "attention_bias": False,
        "attention_dropout": 0.0, "hidden_act": "silu", "layer_scale_initial_scale": 0.01,
    }  # fmt: skip
    encoder = {
        "model_type": "mimi", "sampling_rate": 24000, "_frame_rate": 12.5, "audio_channels": 1,
        "hidden_size": 64 if tiny else 512, "num_filters": 8 if tiny else 64,
        "num_residual_layers": 1, "upsampling_ratios": [8, 6, 5, 4], "kernel_size": 7,
        "last_kernel_size": 3, "residual_kernel_size": 3, "dilation_growth_rate": 2,
        "use_causal_conv": True, "pad_mode": "constant", "compress": 2, "trim_right_ratio": 1.0,
        "codebook_size": codes, "codebook_dim": 16 if tiny else 256,
        "num_quantizers": 32, "num_semantic_quantizers": 1, "use_conv_shortcut": False,
        "vector_quantization_hidden_dimension": 16 if tiny else 256,
        "upsample_groups": 64 if tiny else 512, "num_hidden_layers": 2 if tiny else 8,
        "intermediate_size": 128 if tiny else 2048, "num_attention_heads": 4 if tiny else 8,
        "num_key_value_heads": 4 if tiny else 8, "head_dim": 16 if tiny else 64,
        "hidden_act": "gelu", "max_position_embeddings": 8000, "norm_eps": 1e-05,
        "rope_theta": 10000.0, "sliding_window": 250, "attention_bias": False,
        "attention_dropout": 0.0, "layer_scale_initial_scale": 0.01, "use_cache": False,
    }  # fmt: skip
    return {
        "architectures": ["Qwen3TTSTokenizerV2Model"], "model_type": "qwen3_tts_tokenizer_12hz",
        "encoder_valid_num_quantizers": GROUPS, "input_sample_rate": 24000,
        "output_sample_rate": 24000, "decode_upsample_rate": 1920, "encode_downsample_rate": 1920,
        "decoder_config": decoder, "encoder_config": encoder, "transformers_version": "4.57.1",
    }  # fmt: skip


# --- tensors -----------------------------------------------------------------------------------


def linear(
    name: str, out: int, into: int, gain: float = 1.0, bias: bool = False
) -> list[RandomTensor]:
    """A matrix that keeps the variance of its input, times ``gain``."""
    tensors = [RandomTensor(f"{name}.weight", (out, into), gain / math.sqrt(into))]
    return [*tensors, RandomTensor(f"{name}.bias", (out,), 0.1)] if bias else tensors


def conv(
    name: str, out: int, into: int, kernel: int, gain: float = 1.0, bias: bool = True
) -> list[RandomTensor]:
    """A convolution kernel [out, into, kernel]."""
    shape = (out, into, kernel)
    tensors = [RandomTensor(f"{name}.weight", shape, gain / math.sqrt(into * kernel))]
    return [*tensors, RandomTensor(f"{name}.bias", (out,), 0.02)] if bias else tensors


def norm(name: str, size: int, bias: bool = False) -> list[RandomTensor]:
    """The weights of a normalisation, around one."""
    tensors = [RandomTensor(f"{name}.weight", (size,), 0.1, mean=1.0)]
    return [*tensors, RandomTensor(f"{name}.bias", (size,), 0.1)] if bias else tensors


def qwen3_layers(prefix: str, config: dict[str, Any]) -> Iterator[RandomTensor]:
    """The decoder layers of talker or predictor, and the final norm."""
    hidden, inner, head = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    query = config["num_attention_heads"] * head
    key = config["num_key_value_heads"] * head
    for at in range(config["num_hidden_layers"]):
        name = f"{prefix}.layers.{at}"
        yield from norm(f"{name}.input_layernorm", hidden)
        yield from norm(f"{name}.post_attention_layernorm", hidden)
        yield from linear(f"{name}.self_attn.q_proj", query, hidden)
        yield from linear(f"{name}.self_attn.k_proj", key, hidden)
        yield from linear(f"{name}.self_attn.v_proj", key, hidden)
        yield from linear(f"{name}.self_attn.o_proj", hidden, query)
        yield from norm(f"{name}.self_attn.q_norm", head)
        yield from norm(f"{name}.self_attn.k_norm", head)
        yield from linear(f"{name}.mlp.gate_proj", inner, hidden)
        yield from linear(f"{name}.mlp.up_proj", inner, hidden)
        yield from linear(f"{name}.mlp.down_proj", hidden, inner)
    yield from norm(f"{prefix}.norm", hidden)


def main_tensors(config: dict[str, Any]) -> Iterator[RandomTensor]:
    """Everything in model.safetensors."""
    talker = config["talker_config"]
    predictor = talker["code_predictor_config"]
    hidden, text = talker["hidden_size"], talker["text_hidden_size"]
    small, codes = predictor["hidden_size"], predictor["vocab_size"]
    yield RandomTensor("talker.model.text_embedding.weight", (talker["text_vocab_size"], text), 1.0)
    first = (talker["vocab_size"], hidden)
    yield RandomTensor("talker.model.codec_embedding.weight", first, FIRST_CODE_SCALE)
    yield from qwen3_layers("talker.model", talker)
    yield from linear("talker.codec_head", talker["vocab_size"], hidden, gain=3.0)
    yield from linear("talker.text_projection.linear_fc1", text, text, bias=True)
    yield from linear("talker.text_projection.linear_fc2", hidden, text, bias=True)
    yield from qwen3_layers("talker.code_predictor.model", predictor)
    for group in range(GROUPS - 1):
        name = f"talker.code_predictor.model.codec_embedding.{group}.weight"
        yield RandomTensor(name, (codes, hidden), LATER_CODE_SCALE)
        yield from linear(f"talker.code_predictor.lm_head.{group}", codes, small, gain=3.0)
    if hidden != small:
        name = "talker.code_predictor.small_to_mtp_projection"
        yield from linear(name, small, hidden, bias=True)
    if "speaker_encoder_config" in config:
        yield from speaker_encoder_tensors(config["speaker_encoder_config"])


def speaker_encoder_tensors(config: dict[str, Any]) -> Iterator[RandomTensor]:
    """The ECAPA-TDNN of the Base models."""
    channels = config.get("enc_channels", [512, 512, 512, 512, 1536])
    squeeze = config.get("enc_se_channels", 128)
    attention = config.get("enc_attention_channels", 128)
    part = channels[0] // 8
    yield from conv("speaker_encoder.blocks.0.conv", channels[0], 128, 5, gain=0.3)
    for block in (1, 2, 3):
        name, width = f"speaker_encoder.blocks.{block}", channels[block]
        yield from conv(f"{name}.tdnn1.conv", width, width, 1)
        for at in range(7):
            yield from conv(f"{name}.res2net_block.blocks.{at}.conv", part, part, 3)
        yield from conv(f"{name}.tdnn2.conv", width, width, 1)
        yield from conv(f"{name}.se_block.conv1", squeeze, width, 1)
        yield from conv(f"{name}.se_block.conv2", width, squeeze, 1)
    last = channels[-1]
    yield from conv("speaker_encoder.mfa.conv", last, last, 1)
    yield from conv("speaker_encoder.asp.tdnn.conv", attention, 3 * last, 1)
    yield from conv("speaker_encoder.asp.conv", last, attention, 1)
    yield from conv("speaker_encoder.fc", config["enc_dim"], 2 * last, 1)


def codec_decoder_tensors(config: dict[str, Any]) -> Iterator[RandomTensor]:
    """The decoder half of speech_tokenizer/model.safetensors."""
    codes, book, latent = config["codebook_size"], config["codebook_dim"], config["latent_dim"]
    for part, layers in (("first", 1), ("rest", GROUPS - 1)):
        name = f"decoder.quantizer.rvq_{part}"
        yield from conv(f"{name}.input_proj", book // 2, book, 1, bias=False)
        yield from conv(f"{name}.output_proj", book, book // 2, 1, bias=False)
        for at in range(layers):
            yield from codebook(
                f"{name}.vq.layers.{at}._codebook", "embedding_sum", codes, book // 2
            )
    yield from conv("decoder.pre_conv.conv", latent, book, 3)
    yield from codec_transformer_tensors(config)
    for at, factor in enumerate(config["upsampling_ratios"]):
        name = f"decoder.upsample.{at}"
        yield from conv(f"{name}.0.conv", latent, latent, factor, gain=math.sqrt(factor))
        yield from conv(f"{name}.1.dwconv.conv", latent, 1, 7)
        yield from norm(f"{name}.1.norm", latent, bias=True)
        yield from linear(f"{name}.1.pwconv1", 4 * latent, latent, bias=True)
        yield from linear(f"{name}.1.pwconv2", latent, 4 * latent, bias=True)
        yield RandomTensor(f"{name}.1.gamma", (latent,), 0.5)
    width = config["decoder_dim"]
    yield from conv("decoder.decoder.0.conv", width, latent, 7)
    for at, rate in enumerate(config["upsample_rates"], start=1):
        name = f"decoder.decoder.{at}.block"
        yield from snake(f"{name}.0", width)
        # Stored [in, out, kernel]; each output sample sees two of the 2 * rate taps.
        shape = (width, width // 2, 2 * rate)
        yield RandomTensor(f"{name}.1.conv.weight", shape, 1 / math.sqrt(2 * width))
        yield RandomTensor(f"{name}.1.conv.bias", (width // 2,), 0.02)
        width //= 2
        for unit in (2, 3, 4):
            yield from snake(f"{name}.{unit}.act1", width)
            yield from conv(f"{name}.{unit}.conv1.conv", width, width, 7)
            yield from snake(f"{name}.{unit}.act2", width)
            yield from conv(f"{name}.{unit}.conv2.conv", width, width, 1, gain=0.3)
    last = len(config["upsample_rates"]) + 1
    yield from snake(f"decoder.decoder.{last}", width)
    yield from conv(f"decoder.decoder.{last + 1}.conv", 1, width, 7, gain=0.05)


def codec_transformer_tensors(config: dict[str, Any]) -> Iterator[RandomTensor]:
    """The sliding-window transformer of the codec decoder."""
    hidden, inner, latent = config["hidden_size"], config["intermediate_size"], config["latent_dim"]
    attention = config["num_attention_heads"] * config["head_dim"]
    prefix = "decoder.pre_transformer"
    yield from linear(f"{prefix}.input_proj", hidden, latent, bias=True)
    yield from linear(f"{prefix}.output_proj", latent, hidden, bias=True)
    yield from norm(f"{prefix}.norm", hidden)
    for at in range(config["num_hidden_layers"]):
        name = f"{prefix}.layers.{at}"
        for part in ("q", "k", "v"):
            yield from linear(f"{name}.self_attn.{part}_proj", attention, hidden)
        yield from linear(f"{name}.self_attn.o_proj", hidden, attention)
        yield from linear(f"{name}.mlp.gate_proj", inner, hidden)
        yield from linear(f"{name}.mlp.up_proj", inner, hidden)
        yield from linear(f"{name}.mlp.down_proj", hidden, inner)
        yield from norm(f"{name}.input_layernorm", hidden)
        yield from norm(f"{name}.post_attention_layernorm", hidden)
        yield RandomTensor(f"{name}.self_attn_layer_scale.scale", (hidden,), 0.1, mean=0.3)
        yield RandomTensor(f"{name}.mlp_layer_scale.scale", (hidden,), 0.1, mean=0.3)


def codec_encoder_tensors(config: dict[str, Any]) -> Iterator[RandomTensor]:
    """The encoder half of speech_tokenizer/model.safetensors: Mimi."""
    width, hidden = config["num_filters"], config["hidden_size"]
    yield from conv("encoder.encoder.layers.0.conv", width, 1, config["kernel_size"], gain=2.0)
    for at, ratio in enumerate(reversed(config["upsampling_ratios"])):
        block, down = 1 + 3 * at, 3 + 3 * at
        name = f"encoder.encoder.layers.{block}.block"
        yield from conv(f"{name}.1.conv", width // 2, width, config["residual_kernel_size"])
        yield from conv(f"{name}.3.conv", width, width // 2, 1)
        yield from conv(f"encoder.encoder.layers.{down}.conv", 2 * width, width, 2 * ratio)
        width *= 2
    last = 2 + 3 * len(config["upsampling_ratios"])
    name = f"encoder.encoder.layers.{last}.conv"
    yield from conv(name, hidden, width, config["last_kernel_size"])
    for at in range(config["num_hidden_layers"]):
        name = f"encoder.encoder_transformer.layers.{at}"
        yield from norm(f"{name}.input_layernorm", hidden, bias=True)
        yield from norm(f"{name}.post_attention_layernorm", hidden, bias=True)
        for part in ("q", "k", "v", "o"):
            yield from linear(f"{name}.self_attn.{part}_proj", hidden, hidden)
        yield from linear(f"{name}.mlp.fc1", config["intermediate_size"], hidden)
        yield from linear(f"{name}.mlp.fc2", hidden, config["intermediate_size"])
        yield RandomTensor(f"{name}.self_attn_layer_scale.scale", (hidden,), 0.1, mean=0.3)
        yield RandomTensor(f"{name}.mlp_layer_scale.scale", (hidden,), 0.1, mean=0.3)
    yield from conv("encoder.downsample.conv", hidden, hidden, 4, bias=False)
    inner = config["codebook_dim"]
    for part, codebooks in (("semantic", 1), ("acoustic", config["num_quantizers"] - 1)):
        name = f"encoder.quantizer.{part}_residual_vector_quantizer"
        yield from conv(f"{name}.input_proj", inner, hidden, 1, bias=False)
        yield from conv(f"{name}.output_proj", hidden, inner, 1, bias=False)
        for at in range(codebooks):
            layer = f"{name}.layers.{at}.codebook"
            yield RandomTensor(f"{layer}.initialized", (1,), 0.0, mean=1.0)
            yield from codebook(layer, "embed_sum", config["codebook_size"], inner)


def codebook(name: str, sums: str, codes: int, dimension: int) -> list[RandomTensor]:
    """Code vectors as they are trained: sums over a cluster, and the cluster's usage."""
    return [
        RandomTensor(f"{name}.{sums}", (codes, dimension), 1.0),
        RandomTensor(f"{name}.cluster_usage", (codes,), 0.3, mean=1.0),
    ]


def snake(name: str, width: int) -> list[RandomTensor]:
    """The logarithmic parameters of one SnakeBeta."""
    return [
        RandomTensor(f"{name}.alpha", (width,), 0.3),
        RandomTensor(f"{name}.beta", (width,), 0.3),
    ]


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step
