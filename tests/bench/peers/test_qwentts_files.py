"""A checkpoint in the layout of another engine: names, types and values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.bench.peers.qwentts_files import (
    CODEC,
    TALKER,
    codec_metadata,
    renamed,
    talker_metadata,
    type_of,
    whole,
)
from s2s.tts.qwen3.checkpoint import Checkpoint

Tiny = Callable[[str], Path]


@pytest.mark.parametrize(
    ("name", "rules", "expected"),
    [
        ("talker.model.layers.3.self_attn.q_proj.weight", TALKER, "talker.blk.3.attn_q.weight"),
        ("talker.code_predictor.model.layers.0.mlp.up_proj.weight", TALKER,
         "code_pred.blk.0.ffn_up.weight"),
        ("decoder.pre_transformer.layers.1.input_layernorm.weight", CODEC,
         "tok_dec.pre_tfm.blk.1.attn_norm.weight"),
        ("decoder.quantizer.rvq_first.vq.layers.0._codebook.embedding_sum", CODEC,
         "tok_dec.vq_first.0.codebook"),
        ("decoder.quantizer.rvq_first.vq.layers.0._codebook.cluster_usage", CODEC, None),
        ("something.else", TALKER, None),
    ],
)  # fmt: skip
def test_tensors_have_the_other_engines_names(
    name: str, rules: tuple[tuple[str, str], ...], expected: str | None
) -> None:
    assert renamed(name, rules) == expected


def test_every_tensor_has_a_name_of_its_own(tiny_qwen3: Tiny) -> None:
    folder = tiny_qwen3("1.7b-base")
    for source, rules in ((folder, TALKER), (folder / "speech_tokenizer", CODEC)):
        names = [renamed(name, rules) for name in Checkpoint(source).names]
        kept = [name for name in names if name is not None]
        assert len(set(kept)) == len(kept) > 50


@pytest.mark.parametrize(
    ("target", "shape", "kind"),
    [
        ("talker.blk.0.attn_q.weight", (512, 512), "q4_k"),
        ("talker.token_embd.weight", (512, 512), "q6_k"),
        ("talker.blk.0.attn_norm.weight", (512,), "f32"),
        ("tok_dec.pre_conv.weight", (8, 8, 3), "f16"),
        ("tok_dec.vq_first.0.codebook", (16, 64), "f32"),
    ],
)
def test_a_tensor_is_stored_by_what_it_is(target: str, shape: tuple[int, ...], kind: str) -> None:
    assert type_of(target, shape, "q4_k_m").name == kind


def test_codebooks_are_divided_by_their_usage(tiny_qwen3: Tiny) -> None:
    weights = Checkpoint(tiny_qwen3("1.7b-base") / "speech_tokenizer")
    book = "decoder.quantizer.rvq_first.vq.layers.0._codebook"
    sums, usage = weights.load(f"{book}.embedding_sum"), weights.load(f"{book}.cluster_usage")
    wanted = sums / np.maximum(usage, 1e-5)[:, None]
    np.testing.assert_allclose(whole(weights, f"{book}.embedding_sum"), wanted, rtol=1e-6)


def test_the_configs_are_in_the_metadata(tiny_qwen3: Tiny) -> None:
    folder = tiny_qwen3("1.7b-base")
    talker = talker_metadata(folder)
    assert talker["general.architecture"] == "qwen3-tts"
    assert any(key.startswith("tokenizer.ggml.tokens") for key in talker)
    codec = codec_metadata(folder / "speech_tokenizer")
    assert codec["general.architecture"] == "qwen3-tts-tokenizer"
    assert codec["qwen3-tts-tokenizer.decoder.num_quantizers"] == 16
