"""The repetition guard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.repetition import repeated_tail


@given(st.lists(st.integers(0, 3), max_size=5), st.integers(1, 12), st.data())
def test_a_loop_is_cut_to_one_copy(before: list[int], period: int, data: st.DataObject) -> None:
    loop = data.draw(st.lists(st.integers(10, 99), min_size=period, max_size=period, unique=True))
    copies = max(4, -(-12 // period))
    tokens = before + loop * copies
    assert tokens[: len(tokens) - repeated_tail(tokens)] == before + loop
    assert repeated_tail(before + loop * (copies - 1)) == 0


@pytest.mark.parametrize("tokens", [[], [7], [7] * 11, [1, 2, 3] * 3, list(range(40))])
def test_what_people_say_is_left_alone(tokens: list[int]) -> None:
    assert repeated_tail(tokens) == 0


def test_a_loop_that_has_ended_is_left_alone() -> None:
    assert repeated_tail([5] * 20 + [6]) == 0
