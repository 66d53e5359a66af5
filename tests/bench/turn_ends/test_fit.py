"""The fit of the witnesses: what it finds on pauses whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.turn_ends.evidence import HeardPause
from s2s.bench.turn_ends.fit import (
    Wait,
    allowed,
    area,
    before,
    held_out,
    logistic,
    odds,
    outcome,
    over_ms,
    table,
    wait_for,
    weights,
)

MS = 16


def pauses(recordings: int = 20) -> list[HeardPause]:
    """Of each recording an end and a pause of 800 ms, which the sound tells apart, mostly."""
    random = np.random.default_rng(3)
    found: list[HeardPause] = []
    for number in range(recordings):
        for is_end in (False, True):
            sound = float(random.normal(2.0 if is_end else -2.0, 1.5))
            found.append(
                HeardPause(
                    f"r{number}_0", "end" if is_end else "cut", 0, 64 * MS,
                    None if is_end else 800 * MS, 0, {32: sound}, "Where is it", -1.0,
                )
            )  # fmt: skip
    return found


def test_a_logistic_regression_finds_the_weights_that_made_its_data() -> None:
    random = np.random.default_rng(1)
    features = random.normal(size=(20000, 2))
    chance = 1 / (1 + np.exp(-(0.5 + features @ [1.5, -0.7])))
    found = logistic(features, (random.random(20000) < chance).astype(float))
    assert found == pytest.approx([0.5, 1.5, -0.7], abs=0.08)


def test_the_area_is_the_share_of_pairs_in_order_and_ties_count_half() -> None:
    truth = np.array([False, False, True, True])
    assert area(np.array([0.0, 1.0, 2.0, 3.0]), truth) == 1.0
    assert area(np.array([0.0, 2.0, 1.0, 3.0]), truth) == 0.75
    assert area(np.ones(4), truth) == 0.5


def test_the_wait_found_cuts_no_more_than_it_may_and_a_patient_one_waits_longer() -> None:
    known = table(pauses(), [])
    found = odds(known, weights(known, ("sound",)))
    means: list[float] = []
    for target in (0.0, 0.2):
        wait = wait_for(known, found, (64.0,), target, 86.0)
        does = outcome(known, over_ms(found, (64.0,), wait.ms(found)), 86.0)
        assert does.cut.mean() <= target
        means.append(float(does.delay_ms.mean()))
    assert means[0] > means[1]


def test_a_wait_falls_from_its_longest_to_its_shortest() -> None:
    wait = Wait(0.0, 0.25, 260.0, 1700.0)
    waits = wait.ms(np.array([-9.0, -0.5, 0.0, 0.5, 9.0]))
    assert waits[0] == pytest.approx(1700)
    assert waits[-1] == pytest.approx(260)
    assert np.all(np.diff(waits) < 0)
    assert waits[2] == pytest.approx((260 * 1700) ** 0.5)


def test_what_is_held_out_for_stronger_evidence_is_never_later() -> None:
    known = table(pauses(), [])
    over, judged = held_out(known, ("sound",), (64.0,), 0.1, 86.0, (0.0, 1.0))
    assert np.isfinite(over).all()
    assert np.isfinite(judged).all()
    assert np.all(over[1] <= over[0])
    assert np.any(over[1] < over[0])


def test_without_a_target_as_many_are_cut_as_by_the_rule_before() -> None:
    known = table(pauses(), [])
    cut = outcome(known, before(known), 86.0).cut
    assert allowed(known, None, 86.0) == cut.mean()
    assert allowed(known, 0.25, 86.0) == 0.25
