"""The reference backend on tiny checkpoints, and the cases that the official package computed."""

from __future__ import annotations

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
from s2s.tts.qwen3.sampling import Sampling
from s2s.tts.qwen3.text.prompt import Prompt, PromptBuilder, Reference, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from tests.support.qwen3_golden import GOLDEN, arrays

CASES = [(kind, case) for kind, cases in GOLDEN["cases"].items() for case in cases]


GREEDY = Sampling(greedy=True)


def cases(record: str | None = None) -> pytest.MarkDecorator:
    """A test for every kind and case, or those of which `record` was recorded."""
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


@lru_cache
def open_model(folder: Path) -> Model:
    """The reference backend on the checkpoint in `folder`."""
    spec = read_spec(folder)
    weights = open_checkpoint(folder, spec)
    embeddings = ReferenceEmbeddings(spec, weights)
    predictor = ReferencePredictor(spec, weights)
    return Model(
        LanguageModel(spec, embeddings, ReferenceTalker(spec, weights), predictor),
        predictor,
        PromptBuilder(spec, Tokenizer.load(folder), embeddings),
    )


def golden(kind: str, case: dict[str, Any], name: str) -> Any:
    """An array of a case."""
    return arrays(kind)[f"{case['name']}/{name}"]


def prompt_of(model: Model, kind: str, case: dict[str, Any]) -> Prompt:
    """What the model is prompted with in a case."""
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
