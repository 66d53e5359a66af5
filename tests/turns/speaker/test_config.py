"""Thresholds of "only my voice": what contradicts itself is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s.turns.speaker.config import GateConfig

DURATIONS = ("first_look_ms", "again_ms", "look_ms", "hold_ms", "forget_ms")


@pytest.mark.parametrize(
    "wrong", [{"mine": 0.1}, {"mine": 1.1}, {"other": 0.6}, {"short": 0.9}, {"still_mine": -1.5}]
)
def test_likenesses_are_in_their_order(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="<= mine within"):
        replace(GateConfig(), **wrong)


@pytest.mark.parametrize("name", DURATIONS)
def test_durations_are_positive(name: str) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        replace(GateConfig(), **{name: 0})
    assert replace(GateConfig(), **{name: 1})
