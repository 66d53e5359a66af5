"""Choosing codes: order, ties, limits, and the distribution that is drawn from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.arrays import Floats
from s2s.tts.qwen3.sampling import FirstCodes, Sampling, SeededDraws, choose, probabilities

CODES, EOS = 8, 10
LOGITS = st.lists(st.floats(-30, 30, width=32), min_size=16, max_size=16).map(
    lambda values: np.array(values, np.float32)
)
GREEDY = Sampling(greedy=True)


@given(LOGITS, st.integers(1, 20), st.floats(0.05, 1, exclude_min=True), st.floats(0.2, 3))
def test_probabilities_keep_the_most_likely(
    logits: Floats, top_k: int, top_p: float, temperature: float
) -> None:
    kept = probabilities(logits, Sampling(False, temperature, top_k, top_p))
    assert kept.sum() == pytest.approx(1, abs=1e-5)
    assert kept[logits == logits.max()].max() == kept.max() > 0
    smallest = logits[kept > 0].min()
    assert (kept[logits > smallest] > 0).all()


def test_ties_with_the_last_kept_survive() -> None:
    kept = probabilities(np.array([3, 2, 2, 1], np.float32), Sampling(top_k=2))
    assert (kept > 0).tolist() == [True, True, True, False]


def test_top_p_keeps_the_smallest_set_that_reaches_it() -> None:
    logits = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))
    assert (probabilities(logits, Sampling(temperature=1, top_p=0.7)) > 0).sum() == 2
    assert (probabilities(logits, Sampling(temperature=1, top_p=0.01)) > 0).sum() == 1


def test_draws_follow_the_distribution() -> None:
    logits = np.array([1.0, 0.5, 0.0, -0.5, -1.0, -9.0], np.float32)
    sampling = Sampling(top_k=5)
    expected = probabilities(logits, sampling)
    draws, count = SeededDraws(1), 20_000
    found = np.bincount([choose(logits, sampling, draws) for _ in range(count)], minlength=6)
    assert found[5] == 0
    chi_square = ((found[:5] - count * expected[:5]) ** 2 / (count * expected[:5])).sum()
    assert chi_square < 18.5  # 0.1 % for four degrees of freedom


def test_one_seed_gives_one_sequence_and_its_streams_differ() -> None:
    first = SeededDraws(4).exponential(5)
    assert first.tolist() == SeededDraws(4).exponential(5).tolist()
    assert first.tolist() != SeededDraws(4, 1).exponential(5).tolist()
    assert first.tolist() != SeededDraws(5).exponential(5).tolist()


@given(LOGITS, st.lists(st.integers(0, CODES - 1), max_size=6))
def test_only_codes_and_the_end_can_be_chosen(logits: Floats, before: list[int]) -> None:
    first = FirstCodes(CODES, EOS)
    for code in before:
        given_one = np.full(16, -1, np.float32)
        given_one[code] = 1e4
        assert first.choose(given_one, SeededDraws(0)) == code
    allowed = np.isfinite(first.processed(logits))
    assert allowed[:CODES].all()
    assert allowed[EOS] == (len(before) >= 2)
    assert allowed.sum() == CODES + allowed[EOS]


def test_the_penalty_counts_an_id_once_and_pushes_it_down_on_both_sides_of_zero() -> None:
    first = FirstCodes(CODES, EOS, GREEDY, repetition_penalty=2.0)
    high = np.zeros(16, np.float32)
    high[3] = 9
    for _ in range(3):
        assert first.choose(high, SeededDraws(0)) == 3
    logits = np.full(16, 1, np.float32)
    logits[3] = 4
    assert first.processed(logits)[3] == 2
    logits[3] = -4
    assert first.processed(logits)[3] == -8
    assert logits[3] == -4


@pytest.mark.parametrize(
    "values", [{"temperature": 0}, {"top_k": -1}, {"top_p": 0}, {"top_p": 1.5}]
)
def test_impossible_settings_are_errors(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(values))):
        Sampling(**values)  # type: ignore[arg-type]
