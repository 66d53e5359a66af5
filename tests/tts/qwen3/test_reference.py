"""The reference in numpy against the official package: logits, frames, prompts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.tts.qwen3.sampling import SeededDraws
from tests.support.qwen3_golden import GOLDEN, arrays
from tests.tts.qwen3.reference_model import (
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
