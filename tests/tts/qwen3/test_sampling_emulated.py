"""Acceptance of draft tokens at a given rate, as the benchmark of random weights emulates it."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.qwen3.utterances import acceptance_rate
from s2s.core.arrays import Floats
from s2s.tts.qwen3.sampling import Sampling, SeededDraws
from s2s.tts.qwen3.sampling_speculative import (
    AcceptAtRate,
    Verify,
    accept_or_resample,
    choose_codes,
)


class Flat:
    """Forward passes of a predictor that finds every code equally likely: every draft token is
    accepted."""

    groups = 15

    def __init__(self, book: int = 32) -> None:
        self._book = book
        self.passes = 0

    def start(self) -> Floats:
        self.passes += 1
        return np.zeros(1, np.float32)

    def feed(self, group: int, codes: list[int]) -> Floats:
        self.passes += 1
        return np.zeros((len(codes), 1), np.float32)

    def keep(self, codes: int) -> None:
        pass

    def logits(self, group: int, hidden: Floats) -> Floats:
        return np.zeros(self._book, np.float32)


def passes_a_frame(
    draft_tokens: int,
    sampling: Sampling,
    verify: Verify = accept_or_resample,
    frames: int = 400,
) -> float:
    passes, draws = Flat(), SeededDraws(0)
    for _ in range(frames):
        codes = choose_codes(passes, draft_tokens, sampling, draws, verify)
        assert codes.shape == (15,)
        assert ((codes >= 0) & (codes < 32)).all()
    return passes.passes / frames


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(greedy=True)])
def test_emulation_makes_draft_tokens_as_good_as_told(sampling: Sampling) -> None:
    assert passes_a_frame(3, sampling) == 5  # one, then four codes a pass, then what is left
    assert passes_a_frame(3, sampling, AcceptAtRate(0.0)) == 15
    assert passes_a_frame(3, sampling, AcceptAtRate(1.0)) == 5
    passes = passes_a_frame(3, sampling, AcceptAtRate(acceptance_rate(2.47, 3)))
    # One pass, then fourteen codes at 2.47 a pass; the last pass has fewer left to choose.
    assert 1 + 14 / 2.47 < passes < 1 + 14 / 2.47 + 0.7
    assert passes_a_frame(3, sampling) == 5  # and nothing of it stays behind
