"""A key that a terminal tells of only when it goes down: pressed twice, or held."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.app.talking.held_key import HeldKey


def up_s(key: HeldKey, presses: list[float], until_s: float) -> list[tuple[float, bool]]:
    """When `key` went down and up, pressed at these times."""
    changes: list[tuple[float, bool]] = []

    def note(at_s: float) -> None:
        if key.down != (changes[-1][1] if changes else False):
            changes.append((at_s, key.down))

    for at_s in [*presses, until_s]:
        while (deadline_s := key.deadline_s) is not None and deadline_s <= at_s:
            key.expired(deadline_s)
            note(deadline_s)
        if at_s != until_s:
            key.pressed(at_s)
            note(at_s)
    return changes


def test_pressed_and_pressed_again_it_is_a_switch_without_delay() -> None:
    assert up_s(HeldKey(), [1.0, 3.0, 5.0, 8.0], 20.0) == [
        (1.0, True),
        (3.0, False),
        (5.0, True),
        (8.0, False),
    ]


@pytest.mark.parametrize(("first_s", "every_s"), [(0.25, 0.033), (0.5, 0.03), (0.66, 0.04)])
def test_held_it_is_down_until_it_is_let_go(first_s: float, every_s: float) -> None:
    held = [1.0, *(1.0 + first_s + every_s * n for n in range(60))]
    changes = up_s(HeldKey(), held, 20.0)
    assert [down for _, down in changes] == [True, False]
    assert changes[0][0] == 1.0
    assert 0.0 < changes[1][0] - held[-1] <= 0.16


def test_a_second_press_that_might_be_a_repetition_counts_a_moment_later() -> None:
    assert up_s(HeldKey(), [1.0, 1.5], 20.0) == [(1.0, True), (pytest.approx(1.65), False)]


def test_it_stays_down_for_as_long_as_it_is_not_pressed_again() -> None:
    key = HeldKey()
    key.pressed(0.0)
    assert key.deadline_s is None
    assert key.down


@given(st.lists(st.floats(0.01, 3.0), max_size=40))
def test_it_goes_down_and_up_in_turn_and_what_is_undecided_is_decided(gaps: list[float]) -> None:
    at_s, presses = 0.0, []
    for gap in gaps:
        at_s += gap
        presses.append(at_s)
    key = HeldKey()
    changes = up_s(key, presses, at_s + 10.0)
    assert [down for _, down in changes] == [n % 2 == 0 for n in range(len(changes))]
    assert key.deadline_s is None
