"""The costs of answers that begin early, on pauses that are made up."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.bench.provisional import MS, costs


@dataclass(frozen=True)
class Pause:
    turn: str
    back_ms: float | None
    end: int = 16_000
    true_end: int = 16_000

    @property
    def noticed(self) -> int:
        return self.end + 64 * MS

    @property
    def back(self) -> int | None:
        return None if self.back_ms is None else self.end + round(self.back_ms * MS)


def test_each_pause_is_cut_taken_back_or_waited_out_and_each_end_is_answered() -> None:
    pauses = [
        Pause("a", 300.0),  # waited out
        Pause("a", 900.0),  # taken back
        Pause("a", 900.0),  # waited out: it was taken back once
        Pause("a", None),  # given the whole grace
        Pause("b", 2000.0),  # cut
        Pause("b", None),
    ]
    found = costs(pauses, lambda _: 400.0, lambda _: 1500.0, 150.0)
    assert (found.begun, found.taken_back) == (4, 1)
    assert found.taken_back_share == 0.25
    assert found.heard_ms == 500.0
    assert found.cut_pauses == 0.25
    assert found.first_sound_mean_ms == pytest.approx((1500 + 400) / 2)
    assert found.won_mean_ms == pytest.approx(1100 / 2)


def test_nothing_is_heard_before_it_is_ready() -> None:
    found = costs([Pause("a", None)], lambda _: 0.0, lambda _: 1500.0, 150.0)
    assert found.first_sound_p50_ms == 214.0


@given(
    st.lists(st.one_of(st.none(), st.floats(100.0, 3000.0)), min_size=1, max_size=20),
    st.floats(0.0, 3000.0),
    st.floats(0.0, 3000.0),
)
def test_it_never_waits_longer_than_for_the_commit_and_costs_no_cut(
    backs: list[float | None], speak_ms: float, commit_ms: float
) -> None:
    pauses = [Pause(str(number // 3), back) for number, back in enumerate([*backs, None])]
    early = costs(pauses, lambda _: speak_ms, lambda _: commit_ms, 150.0)
    late = costs(pauses, lambda _: commit_ms, lambda _: commit_ms, 150.0)
    assert early.won_mean_ms >= 0.0
    assert early.first_sound_mean_ms <= late.first_sound_mean_ms
    assert early.cut_pauses == late.cut_pauses
    assert late.taken_back == 0
