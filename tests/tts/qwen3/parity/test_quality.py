"""Measures of nearness: known values, and the reference backend against itself and a worse one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.interfaces import Floats, TalkerOutput
from s2s.tts.qwen3.parity.quality import Quality, compare, divergence, quality_table, top_overlap
from s2s.tts.qwen3.reference import Cache, ReferenceEmbeddings, ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.text.prompt import PromptBuilder, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer

REQUEST = Request("Hello there.", language="English", speaker="ryan")


class NoisyTalker(ReferenceTalker):
    """The reference with a little noise on every output."""

    def prefill(self, state: Cache, embeddings: Floats) -> TalkerOutput:
        out = super().prefill(state, embeddings)
        noise = np.random.default_rng(len(embeddings)).standard_normal
        return TalkerOutput(
            out.logits + noise(out.logits.size).astype(np.float32) * np.float32(0.5),
            out.hidden + noise(out.hidden.size).astype(np.float32) * np.float32(0.5),
        )


def test_divergence_of_two_known_distributions() -> None:
    one = np.log(np.array([0.5, 0.25, 0.25], np.float32))
    other = np.log(np.array([0.25, 0.5, 0.25], np.float32)) + np.float32(3)
    assert divergence(one, one) == pytest.approx(0, abs=1e-7)
    assert divergence(one, other) == pytest.approx(0.25 * np.log(2), rel=1e-5)


def test_top_overlap_counts_shared_ids() -> None:
    one = np.array([9, 8, 7, 6, 5, 0, 0], np.float32)
    other = np.array([5, 0, 7, 8, 9, 9, 9], np.float32)
    assert top_overlap(one, one) == 1
    assert top_overlap(one, other) == pytest.approx(3 / 5)


def test_a_model_equals_itself_and_noise_shows(tiny_qwen3: Callable[[str], Path]) -> None:
    folder = tiny_qwen3("0.6b-customvoice")
    spec = read_spec(folder)
    weights = open_checkpoint(folder, spec)
    embeddings = ReferenceEmbeddings(spec, weights)
    predictor = ReferencePredictor(spec, weights)
    prompt = PromptBuilder(spec, Tokenizer.load(folder), embeddings).build(REQUEST)
    model = LanguageModel(spec, embeddings, ReferenceTalker(spec, weights), predictor)
    noisy = LanguageModel(spec, embeddings, NoisyTalker(spec, weights), predictor)
    same = compare("same", (model, prompt), (model, prompt), 8)
    worse = compare("noisy", (model, prompt), (noisy, prompt), 8)
    assert same.kl == pytest.approx(0, abs=1e-6)
    assert (same.top5, same.first, same.predictor, same.frames) == (1, 1, 1, 8)
    assert worse.kl > 1e-3
    assert worse.predictor < 1
    assert worse.top5 < 1
    assert len(worse.codes) == spec.groups - 1


def test_table_has_a_row_a_candidate() -> None:
    rows = [Quality(name, 8, 0.25, 0.5, 1, (0.5, 1)) for name in ("q8_0", "q4_k_m")]
    head, first, second = quality_table(rows).splitlines()
    assert head.split()[0] == "quant"
    assert first.split() == ["q8_0", "0.25000", "50.0%", "100.0%", "75.0%", "50.0%", "100.0%"]
    assert second.startswith("q4_k_m")
