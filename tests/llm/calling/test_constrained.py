"""What a model would write if it could write nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.llm.calling.constrained import MOST_LOOKS, ConstrainedChoice, Tokens
from s2s.llm.token_sampling import Logits

END = 0


def model(begun: Tokens) -> Logits:
    """Some logits or other, that depend on what was written."""
    random = np.random.default_rng(list(begun))
    return random.normal(size=8).astype(np.float32)


def probability(option: Tokens, options: list[Tokens]) -> float:
    """By the definition: at each token shared among those that may stand there."""
    found = 1.0
    for at, token in enumerate(option):
        allowed = sorted({each[at] for each in options if each[:at] == option[:at]})
        weights = np.exp(model(option[:at])[allowed].astype(np.float64))
        found *= weights[allowed.index(token)] / weights.sum()
    return float(found)


@given(
    st.lists(
        st.lists(st.integers(1, 7), max_size=4).map(lambda each: (*each, END)),
        min_size=1,
        max_size=12,
        unique=True,
    )
)
def test_the_likeliest_of_all_is_found(options: list[Tokens]) -> None:
    chosen = ConstrainedChoice(options).likeliest(model)
    assert chosen is not None
    best = max(probability(each, options) for each in options)
    assert probability(options[chosen[0]], options) == pytest.approx(best)
    assert chosen[1] == pytest.approx(best)


def test_nothing_is_asked_where_there_is_no_choice() -> None:
    asked: list[Tokens] = []

    def logits(begun: Tokens) -> Logits:
        asked.append(begun)
        return model(begun)

    assert ConstrainedChoice([(1, 2, 3, END)]).likeliest(logits) == (0, 1.0)
    assert asked == []
    ConstrainedChoice([(1, 2, 3, END), (1, 2, 4, END)]).likeliest(logits)
    assert asked == [(1, 2)]


def test_it_can_be_stopped() -> None:
    assert ConstrainedChoice([(1, END), (2, END)]).likeliest(lambda begun: None) is None


def test_very_many_are_not_all_looked_at() -> None:
    looks = 0

    def even(begun: Tokens) -> Logits:
        nonlocal looks
        looks += 1
        return np.zeros(8, np.float32)

    options = [(a, b, c, d, END) for a in range(1, 7) for b in range(1, 7)
               for c in range(1, 7) for d in range(1, 7)]  # fmt: skip
    assert ConstrainedChoice(options).likeliest(even) is not None
    assert looks < MOST_LOOKS + 8


def test_what_cannot_be_chosen_from_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to choose"):
        ConstrainedChoice([])
    with pytest.raises(ValueError, match="beginning of another"):
        ConstrainedChoice([(1, 2), (1, 2, 3)])
