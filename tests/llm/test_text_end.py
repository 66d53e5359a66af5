"""Whether words end: which tokens end them, and how likely those are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.llm.text_end import (
    FARTHEST,
    LIKELIEST,
    ending_log_odds,
    ends_words,
    without_last_mark,
)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("What time is it?", "What time is it"),
        ("Dr. No said so.", "Dr. No said so"),
        ("I want to ...", "I want to"),
        ("well, ", "well,"),
        ("今天天气怎么样？", "今天天气怎么样"),
        ("?!", ""),
    ],
)
def test_the_last_mark_is_left_off(text: str, bare: str) -> None:
    assert without_last_mark(text) == bare


@pytest.mark.parametrize("piece", [".", "?", " !", "。", "\n", "\n\n", '."'])
def test_marks_and_new_lines_end_words(piece: str) -> None:
    assert ends_words(piece.encode())


@pytest.mark.parametrize("piece", ["", " ", ",", "...", "..", "…", " and", "'s", ":", "-"])
def test_what_goes_on_does_not(piece: str) -> None:
    assert not ends_words(piece.encode())


def test_half_a_character_is_no_mark() -> None:
    assert not ends_words("。".encode()[:2])


@given(st.lists(st.floats(-20.0, 20.0), min_size=2, max_size=200), st.integers(0, 6))
def test_log_odds_are_those_of_the_softmax(values: list[float], every: int) -> None:
    logits = np.array(values, np.float32)
    likeliest = set(np.argsort(-logits, kind="stable")[:LIKELIEST].tolist())
    chances = np.exp(logits.astype(np.float64) - logits.max())
    chances /= chances.sum()
    ending = sum(chances[at] for at in likeliest if at % 7 == every)
    found = ending_log_odds(logits, lambda token: token % 7 == every)
    assert -FARTHEST <= found <= FARTHEST
    if 1e-3 < ending < 0.999 and len(set(values)) == len(values):
        assert found == pytest.approx(math.log(ending / (1.0 - ending)), abs=1e-3)
