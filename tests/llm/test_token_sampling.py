"""Choosing a token from logits."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from s2s.llm.token_sampling import TokenSampling, log_share

LOGITS = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))


def drawn(sampling: TokenSampling, count: int = 4000, recent: tuple[int, ...] = ()) -> Counter[int]:
    random = np.random.default_rng(7)
    return Counter(sampling.choose(LOGITS, recent, random) for _ in range(count))


def test_without_temperature_it_is_the_likeliest() -> None:
    assert set(drawn(TokenSampling(0.0, 0.9, 1.0), 5)) == {0}


def test_tokens_come_as_often_as_they_are_likely() -> None:
    counts = drawn(TokenSampling(1.0, 1.0, 1.0))
    shares = [counts[token] / 4000 for token in range(4)]
    assert shares == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.03)


def test_top_p_keeps_the_tokens_that_reach_it() -> None:
    assert set(drawn(TokenSampling(1.0, 0.8, 1.0))) == {0, 1}
    assert set(drawn(TokenSampling(1.0, 0.81, 1.0))) == {0, 1, 2}
    assert set(drawn(TokenSampling(1.0, 0.0, 1.0))) == {0}


def test_a_penalty_makes_recent_tokens_less_likely() -> None:
    plain = TokenSampling(0.0, 1.0, 2.0)
    random = np.random.default_rng(0)
    assert plain.choose(LOGITS, (0,), random) == 1
    assert plain.choose(-LOGITS, (3,), random) == 2  # what is above 0 is divided
    assert plain.choose(LOGITS, (), random) == 0
    assert plain.choose(LOGITS, (0, *[9] * 0, *[1] * 64), random) == 0  # long ago


def test_logits_are_not_changed() -> None:
    before = LOGITS.copy()
    TokenSampling(1.0, 0.9, 1.3).choose(LOGITS, (0, 1), np.random.default_rng(0))
    np.testing.assert_array_equal(LOGITS, before)


def test_the_share_of_a_token_is_its_probability() -> None:
    logits = np.log(np.array([0.5, 0.25, 0.25], np.float32)) + 100.0
    assert np.exp([log_share(logits, each) for each in range(3)]) == pytest.approx(
        [0.5, 0.25, 0.25], rel=1e-4
    )
