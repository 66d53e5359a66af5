"""Makes random weights end after a length that fits the text, as trained ones do.

Random weights never choose the end of speech by themselves, so a conversation with them goes on
until a guard stops it. Here one attention head of the talker's first layer is made to count: its
keys are zero, so it gives the plain average over all positions of one dimension of the input, in
which a text token has ``FRAMES_A_BYTE`` for each of its bytes and a frame has minus one. The
average falls below zero once there are as many frames as the text may take. It is written to a
second dimension, which nothing else reads or writes, and from which the row of the end of speech in
the output matrix takes its logit. Everything else stays random, and costs what it did.

The codes mean nothing, and neither does the sound: only when speech ends is like a trained model's.
An instruction counts as text, and so lengthens the speech. Why by weights:
docs/decisions/random-weights-that-end.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from s2s.testing.patches import Patch, RandomTensor
from s2s.testing.random_tensors import FIRST_CODE_SCALE, LATER_CODE_SCALE, SPECIAL_TOKENS

FRAMES_A_BYTE = 0.8
"""Frames of 80 ms for a byte of UTF-8: 15.6 bytes a second, about 2.6 English words or 5 Chinese
characters."""

_COUNT, _ENDED = 0, 1  # dimensions of the talker's hidden vectors
_LINEAR = 30.0  # an input this large goes through SiLU almost unchanged
_SHARPNESS = 10.0  # of the average, in units of the last hidden vector's rms
_END_GAIN = 20.0  # logits for each of those units
_LAYER_POWER = 0.6  # by which a random layer adds to the mean square of the residual stream


def with_ends(
    tensors: Iterator[RandomTensor], config: dict[str, Any], vocabulary: Mapping[str, int]
) -> Iterator[RandomTensor]:
    """The tensors of model.safetensors, patched so that speech ends.

    config: of config.json. vocabulary: of vocab.json, each token in its printable stand-ins.
    """
    patches = _patches(config, vocabulary)
    for tensor in tensors:
        found = patches.get(tensor.name)
        yield tensor if found is None else replace(tensor, patches=found)


def frames_of_tokens(vocabulary: Mapping[str, int], rows: int) -> npt.NDArray[np.float32]:
    """How many frames each token of the text stands for: float32 [rows]. Special tokens, which a
    full-size vocabulary has among the others, and the role stand for none."""
    frames = np.zeros(rows, np.float32)
    for token, at in vocabulary.items():
        if token not in SPECIAL_TOKENS and token != "assistant":
            frames[at] = FRAMES_A_BYTE * len(token)
    return frames


def _patches(config: dict[str, Any], vocabulary: Mapping[str, int]) -> dict[str, tuple[Patch, ...]]:
    talker = config["talker_config"]
    hidden = talker["hidden_size"]
    return {
        **_text_patches(talker, vocabulary),
        **_code_patches(talker),
        **_layer_patches(talker),
        "talker.model.norm.weight": (Patch.cell((hidden,), (_ENDED,), 1.0),),
        "talker.codec_head.weight": (
            Patch.column((talker["vocab_size"], hidden), _ENDED, 0.0),
            Patch.row((talker["vocab_size"], hidden), talker["codec_eos_token_id"], 0.0),
            Patch.cell(
                (talker["vocab_size"], hidden),
                (talker["codec_eos_token_id"], _ENDED),
                -_END_GAIN,
            ),
        ),
        **_speaker_patches(config),
    }


def _text_patches(
    talker: dict[str, Any], vocabulary: Mapping[str, int]
) -> dict[str, tuple[Patch, ...]]:
    """The frames of each token, through the text projection, into the counting dimension. Special
    tokens and the role count nothing."""
    text, hidden = talker["text_hidden_size"], talker["hidden_size"]
    frames = frames_of_tokens(vocabulary, talker["text_vocab_size"])
    first, second = "talker.text_projection.linear_fc1", "talker.text_projection.linear_fc2"
    return {
        "talker.model.text_embedding.weight": (Patch.column((len(frames), text), 0, frames),),
        f"{first}.weight": (
            Patch.row((text, text), 0, 0.0),
            Patch.cell((text, text), (0, 0), _LINEAR),
        ),
        f"{first}.bias": (Patch.cell((text,), (0,), 0.0),),
        f"{second}.weight": (
            Patch.column((hidden, text), 0, 0.0),
            Patch.row((hidden, text), _COUNT, 0.0),
            Patch.row((hidden, text), _ENDED, 0.0),
            Patch.cell((hidden, text), (_COUNT, 0), 1 / _LINEAR),
        ),
        f"{second}.bias": (Patch.cell((hidden,), (_COUNT,), 0.0),
                           Patch.cell((hidden,), (_ENDED,), 0.0)),
    }  # fmt: skip


def _code_patches(talker: dict[str, Any]) -> dict[str, tuple[Patch, ...]]:
    """A frame's first code counts minus one, nothing else counts. The pad that stands beside the
    text is as large as a frame's codes, so that the norm takes the same of both."""
    hidden, rows = talker["hidden_size"], talker["vocab_size"]
    codes = talker["code_predictor_config"]["vocab_size"]
    counts = np.zeros(rows, np.float32)
    counts[:codes] = -1
    frame_rms = math.hypot(FIRST_CODE_SCALE, math.sqrt(15) * LATER_CODE_SCALE)
    pad = np.random.Generator(np.random.PCG64(1)).uniform(-1, 1, int(hidden)).astype(np.float32)
    found: dict[str, tuple[Patch, ...]] = {
        "talker.model.codec_embedding.weight": (
            Patch.row((rows, hidden), talker["codec_pad_id"], pad * (math.sqrt(3) * frame_rms)),
            Patch.column((rows, hidden), _COUNT, counts),
            Patch.column((rows, hidden), _ENDED, 0.0),
        )
    }
    for group in range(talker["num_code_groups"] - 1):
        found[f"talker.code_predictor.model.codec_embedding.{group}.weight"] = (
            Patch.column((codes, hidden), _COUNT, 0.0),
            Patch.column((codes, hidden), _ENDED, 0.0),
        )
    return found


def _layer_patches(talker: dict[str, Any]) -> dict[str, tuple[Patch, ...]]:
    """The counting head, and layers that leave both dimensions alone."""
    hidden, inner, head = talker["hidden_size"], talker["intermediate_size"], talker["head_dim"]
    query, key = talker["num_attention_heads"] * head, talker["num_key_value_heads"] * head
    layers = talker["num_hidden_layers"]
    found: dict[str, tuple[Patch, ...]] = {}
    for layer in range(layers):
        name = f"talker.model.layers.{layer}"
        for part, width in (("self_attn.o_proj", query), ("mlp.down_proj", inner)):
            found[f"{name}.{part}.weight"] = (
                Patch.row((hidden, width), _COUNT, 0.0),
                Patch.row((hidden, width), _ENDED, 0.0),
            )
    first = "talker.model.layers.0"
    found[f"{first}.input_layernorm.weight"] = (Patch.cell((hidden,), (_COUNT,), 1.0),)
    found[f"{first}.self_attn.k_proj.weight"] = (Patch.rows((key, hidden), range(head), 0.0),)
    found[f"{first}.self_attn.v_proj.weight"] = (
        Patch.rows((key, hidden), range(head), 0.0),
        Patch.cell((key, hidden), (0, _COUNT), 1.0),
    )
    gain = _SHARPNESS * math.sqrt(1.5 + _LAYER_POWER * layers)
    found[f"{first}.self_attn.o_proj.weight"] += (Patch.cell((hidden, query), (_ENDED, 0), gain),)
    return found


def _speaker_patches(config: dict[str, Any]) -> dict[str, tuple[Patch, ...]]:
    """A speaker's vector counts nothing."""
    encoder = config.get("speaker_encoder_config")
    if encoder is None:
        return {}
    width = encoder["enc_dim"]
    inner = 2 * encoder.get("enc_channels", [1536])[-1]
    cells = (_COUNT, _ENDED)
    return {
        "speaker_encoder.fc.weight": (Patch.rows((width, inner), cells, 0.0),),
        "speaker_encoder.fc.bias": tuple(Patch.cell((width,), (at,), 0.0) for at in cells),
    }
