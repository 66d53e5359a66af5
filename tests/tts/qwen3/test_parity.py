"""The reference backend, prompts and sampling against the official package, on tiny models.

Golden values: tests/support/make_golden_qwen3.py with qwen-tts 0.1.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.spec import Generation, Spec
from s2s.tts.qwen3.engine.decode_loop import (
    Frame,
    FrameReport,
    SamplingRun,
    Stop,
    frames,
    prefill,
)
from s2s.tts.qwen3.engine.stop_rules import StopReason
from s2s.tts.qwen3.interfaces import Floats, Ids, never
from s2s.tts.qwen3.text.prompt import Prompt
from tests.tts.qwen3.reference_model import (
    CASES,
    GREEDY,
    Model,
    cases,
    golden,
    open_model,
    prompt_of,
)


@pytest.fixture(scope="module")
def model_of(tiny_qwen3: Callable[[str], Path]) -> Callable[[str], Model]:
    return lambda kind: open_model(tiny_qwen3(kind))


class Replay:
    """Gives out recorded draws."""

    def __init__(self, recorded: list[Floats]) -> None:
        self._recorded = iter(recorded)

    def exponential(self, n: int) -> Floats:
        values = next(self._recorded)
        return np.pad(values, (0, n - values.size), constant_values=1)

    def uniform(self) -> float:
        raise AssertionError("the official package draws no uniform numbers")


@cases()
def test_prompt_is_the_official_one(
    kind: str, case: dict[str, Any], model_of: Callable[[str], Model]
) -> None:
    prompt = prompt_of(model_of(kind), kind, case)
    assert prompt.embeddings.shape == golden(kind, case, "embeds").shape
    np.testing.assert_allclose(prompt.embeddings, golden(kind, case, "embeds"), atol=1e-5, rtol=0)
    np.testing.assert_allclose(prompt.trailing, golden(kind, case, "trailing"), atol=1e-5, rtol=0)
    np.testing.assert_allclose(prompt.pad, golden(kind, case, "pad"), atol=1e-5, rtol=0)


def spoken(
    model: Model, prompt: Prompt, run: SamplingRun, most: int
) -> tuple[Ids, StopReason | None]:
    """Codes int64 [frames, G] of an utterance of at most ``most`` frames, and why it stopped
    before."""
    report = FrameReport()
    states = model.language.talker.new_state(600), model.language.predictor.new_state()
    out = prefill(model.language.talker, states[0], prompt, 0, never, report).out
    assert out is not None
    items = list(islice(frames(model.language, states, out, prompt, run, never, report), most))
    reasons = [item.reason for item in items if isinstance(item, Stop)]
    codes = np.stack([item.codes for item in items if isinstance(item, Frame)])
    return codes, reasons[0] if reasons else None


@cases("greedy")
def test_greedy_frames_are_the_official_ones(
    kind: str, case: dict[str, Any], model_of: Callable[[str], Model]
) -> None:
    """52 frames of 16 codes, with repetition penalty."""
    expected = golden(kind, case, "codes")
    model = model_of(kind)
    generation = replace(
        model.language.spec.generation, talker=GREEDY, predictor=GREEDY, min_new_tokens=99
    )
    codes, _ = spoken(model, prompt_of(model, kind, case), SamplingRun.seeded(generation, 0), 52)
    assert codes.shape == expected.shape == (52, 16)
    assert codes.tolist() == expected.tolist()


def generation_of(spec: Spec, options: dict[str, Any]) -> Generation:
    """The model's settings changed by the options of an official call."""
    names = {"temperature", "top_k", "top_p"}
    inner = {name: options[f"subtalker_{name}"] for name in names if f"subtalker_{name}" in options}
    generation = spec.generation
    return replace(
        generation,
        talker=replace(generation.talker, **{n: options[n] for n in names if n in options}),
        predictor=replace(generation.predictor, **inner),
        repetition_penalty=options.get("repetition_penalty", generation.repetition_penalty),
    )


@cases("sampled")
def test_sampled_frames_are_the_official_ones_when_its_draws_are_replayed(
    kind: str, case: dict[str, Any], model_of: Callable[[str], Model]
) -> None:
    expected = golden(kind, case, "codes")
    draws = golden(kind, case, "predictor_draws")
    model = model_of(kind)
    run = SamplingRun(
        generation_of(model.language.spec, case.get("options", {})),
        Replay(list(golden(kind, case, "talker_draws"))),
        Replay([row for frame in draws for row in frame]),
    )
    codes, reason = spoken(model, prompt_of(model, kind, case), run, 24)
    assert codes.tolist() == expected.tolist()
    assert (reason is StopReason.END) == (len(expected) < 24)


def test_some_sampled_run_ends_by_itself() -> None:
    lengths = [len(golden(k, c, "codes")) for k, c in CASES if c.get("record") == "sampled"]
    assert min(lengths) < 24
