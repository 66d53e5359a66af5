"""Naming the first tensor in which two backends part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint, open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.ggml import language as ggml
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.parity.tensors import TensorRecording, differences, first_divergence, record
from s2s.tts.qwen3.reference import (
    Cache,
    ReferenceEmbeddings,
    ReferencePredictor,
    ReferenceTalker,
    Trace,
)
from s2s.tts.qwen3.text.prompt import PromptBuilder, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer

CODES = np.random.Generator(np.random.PCG64(0)).integers(0, 64, (2, 16))


class Damaged(Checkpoint):
    """Weights of which one is off by a little."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path)
        self._name = name

    def load(self, name: str) -> Floats:
        value = super().load(name)
        return value * np.float32(1.1) if name == self._name else value


def reference(spec: Spec, weights: Checkpoint, trace: Trace) -> LanguageModel[Cache, Cache]:
    return LanguageModel(
        spec,
        ReferenceEmbeddings(spec, weights),
        ReferenceTalker(spec, weights, trace),
        ReferencePredictor(spec, weights, trace),
    )


@pytest.fixture
def folder(tiny_qwen3: Callable[[str], Path]) -> Path:
    return tiny_qwen3("1.7b-voicedesign")


def recorded(folder: Path, weights: Checkpoint) -> TensorRecording:
    spec, seen = read_spec(folder), TensorRecording()
    model = reference(spec, weights, seen)
    prompt = PromptBuilder(spec, Tokenizer.load(folder), model.embeddings).build(Request("Hi."))
    record(model, seen, prompt, CODES)
    return seen


@pytest.mark.parametrize(
    ("weight", "first"),
    [
        ("talker.model.layers.1.self_attn.v_proj", "prompt talker.model.layers.1.attention"),
        ("talker.model.layers.0.mlp.up_proj", "prompt talker.model.layers.0"),
        ("talker.model.norm", "prompt talker.model.norm"),
        ("talker.codec_head", "prompt talker logits"),
        (
            "talker.code_predictor.model.layers.0.self_attn.v_proj",
            "frame 0 talker.code_predictor.model.layers.0.attention",
        ),
    ],
)
def test_the_damaged_weight_is_found(weight: str, first: str, folder: Path) -> None:
    whole = recorded(folder, Checkpoint(folder))
    damaged = recorded(folder, Damaged(folder, f"{weight}.weight"))
    divergence = first_divergence(whole, damaged, 1e-4)
    assert divergence is not None
    assert divergence.name == first
    assert first_divergence(whole, whole, 0.0) is None


def test_recordings_of_nothing_in_common_are_refused() -> None:
    with pytest.raises(ValueError, match="in common"):
        first_divergence(TensorRecording(), TensorRecording(), 1.0)


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
@pytest.mark.parametrize(
    ("quant", "tolerance", "parts"), [("f32", 1e-4, False), ("q8_0", 1e-4, True)]
)
def test_ggml_is_compared_layer_by_layer(
    quant: str, tolerance: float, parts: bool, folder: Path, tmp_path: Path
) -> None:
    spec = read_spec(folder)
    whole = recorded(folder, open_checkpoint(folder, spec))
    seen = TensorRecording()
    converted = convert(folder, quant, converted=tmp_path)
    model = ggml.load(converted, spec, 1, trace=seen).language
    prompt = PromptBuilder(spec, Tokenizer.load(folder), model.embeddings).build(Request("Hi."))
    record(model, seen, prompt, CODES)
    common = [each.name for each in differences(whole, seen)]
    assert len(common) > 150
    assert "prompt talker.model.norm" in common
    assert "prompt talker.model.layers.1" in common
    assert "frame 1 talker.code_predictor.model.layers.0.attention (pass 15)" in common
    assert (first_divergence(whole, seen, tolerance) is not None) == parts
