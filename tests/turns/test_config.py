"""Settings of the turns stage: what makes no sense is refused, with the values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s.turns.config import TurnsConfig
from s2s.turns.grace import GraceConfig


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"partial_interval_ms": -1}, "partial_interval_ms >= 0, got -1"),
        ({"unanswered_reopen_ms": -5}, "got -5 and 1000"),
        ({"stalled_input_ms": 0}, "got 7000 and 0"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(TurnsConfig(), **wrong)


def test_an_answer_begins_early_only_where_that_can_be_taken_back() -> None:
    config = TurnsConfig(grace=GraceConfig(bias=0.5))
    begins, certain = config.graces(provisional=False)
    assert begins is certain is config.grace
    begins, certain = config.graces(provisional=True)
    assert certain is config.grace
    assert begins == config.provisional.of(config.grace)
    assert begins.bias >= certain.bias
