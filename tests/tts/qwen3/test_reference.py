"""The reference in numpy against the official package: logits, frames, prompts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.reference import Cache, ReferenceEmbeddings, ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.sampling import Sampling, SeededDraws
from s2s.tts.qwen3.text.prompt import Prompt, PromptBuilder, Reference, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from tests.support.qwen3_golden import GOLDEN, arrays

CASES = [(kind, case) for kind, cases in GOLDEN["cases"].items() for case in cases]


GREEDY = Sampling(greedy=True)


def cases(record: str | None = None) -> Any:
    chosen = [(k, c) for k, c in CASES if record is None or c.get("record") == record]
    return pytest.mark.parametrize(
        ("kind", "case"), chosen, ids=[f"{kind}-{case['name']}" for kind, case in chosen]
    )


@dataclass(frozen=True)
class Model:
    """The reference backend on one tiny checkpoint."""

    language: LanguageModel[Cache, Cache]
    predictor: ReferencePredictor
    prompts: PromptBuilder


@pytest.fixture(scope="module")
def model_of(tiny_qwen3: Callable[[str], Path]) -> Callable[[str], Model]:
    @lru_cache
    def load(kind: str) -> Model:
        folder = tiny_qwen3(kind)
        spec = read_spec(folder)
        weights = open_checkpoint(folder, spec)
        embeddings = ReferenceEmbeddings(spec, weights)
        predictor = ReferencePredictor(spec, weights)
        return Model(
            LanguageModel(spec, embeddings, ReferenceTalker(spec, weights), predictor),
            predictor,
            PromptBuilder(spec, Tokenizer.load(folder), embeddings),
        )

    return load


def golden(kind: str, case: dict[str, Any], name: str) -> Any:
    return arrays(kind)[f"{case['name']}/{name}"]


def prompt_of(model: Model, kind: str, case: dict[str, Any]) -> Prompt:
    reference = None
    if "mode" in case:
        voice = Reference(speaker=arrays(kind)["reference/speaker"])
        if case["mode"] == "icl":
            codes = arrays(kind)["reference/codes"].astype(np.int64)
            voice = replace(voice, codes=codes, text=GOLDEN["reference_text"])
        reference = voice
    return model.prompts.build(
        Request(
            text=case["text"],
            language=case["language"],
            speaker=case.get("speaker"),
            instruction=case.get("instruct"),
            reference=reference,
            streaming=not case["non_streaming"],
        )
    )


@cases("greedy")
def test_talker_logits_follow_the_official_ones(
    kind: str, case: dict[str, Any], model_of: Callable[[str], Model]
) -> None:
    """Prefill and fifty steps, fed with the official codes."""
    model = model_of(kind)
    prompt = prompt_of(model, kind, case)
    codes = golden(kind, case, "codes").astype(np.int64)
    state = model.language.talker.new_state(len(prompt.embeddings) + 50)
    out = model.language.talker.prefill(state, prompt.embeddings)
    np.testing.assert_allclose(out.logits, golden(kind, case, "first_logits"), atol=1e-3, rtol=0)
    expected, hidden = golden(kind, case, "logits"), golden(kind, case, "hidden")
    assert len(expected) == 50
    np.testing.assert_allclose(out.hidden, hidden[0], atol=1e-3, rtol=0)
    for frame, logits in enumerate(expected):
        vector = model.language.embeddings.frames(codes[frame][None])[0]
        out = model.language.talker.step(state, vector + prompt.text_vector(frame))
        np.testing.assert_allclose(out.logits[: logits.size], logits, atol=1e-3, rtol=0)
        if (frame + 1) % 5 == 0:
            np.testing.assert_allclose(out.hidden, hidden[(frame + 1) // 5], atol=1e-3, rtol=0)


@pytest.mark.parametrize("kind", GOLDEN["cases"])
def test_predictor_frames_are_the_official_ones(
    kind: str, model_of: Callable[[str], Model]
) -> None:
    model, known = model_of(kind), arrays(kind)
    state = model.predictor.new_state()
    for at, (hidden, first) in enumerate(
        zip(known["predictor/hidden"], known["predictor/code0"], strict=True)
    ):
        codes, logits = model.predictor.frame_with_logits(
            state, hidden, int(first), GREEDY, SeededDraws(0)
        )
        assert codes.tolist() == known["predictor/codes"][at].tolist()
        if at < len(known["predictor/logits"]):
            np.testing.assert_allclose(logits, known["predictor/logits"][at], atol=1e-3, rtol=0)
