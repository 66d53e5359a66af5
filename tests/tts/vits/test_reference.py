"""When two ways to compute a sound are the same: bit for bit, or up to the graph's own rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from s2s.models.onnx_file import read_model
from s2s.tts.vits.check import (
    TRIALS,
    whole_feed,
)
from s2s.tts.vits.graph.cuts import find_inputs
from s2s.tts.vits.reference import (
    MAX_TOLERANCE,
    TOLERANCE,
    Comparison,
    ReferenceSounds,
    difference,
    tolerance,
)
from tests.support.vits import VOICES

ZEROS = np.zeros(10, np.float32)


def reference(spreads: list[float]) -> ReferenceSounds:
    """A graph that gives silence and differs from itself by `spreads`."""
    made = ReferenceSounds(b"", [{}] * len(spreads))
    made.sounds = [ZEROS] * len(spreads)
    made.spreads = spreads
    return made


def off(by: float) -> np.ndarray:
    return ZEROS + np.float32(by)


@pytest.mark.parametrize(
    ("spread", "allowed"),
    [(0.0, TOLERANCE), (1e-6, TOLERANCE), (1e-4, 2e-4), (0.1, MAX_TOLERANCE)],
)
def test_what_is_allowed_follows_the_graphs_own_spread(spread: float, allowed: float) -> None:
    assert tolerance(spread) == allowed


def test_beyond_question_no_spread_is_measured() -> None:
    found = reference([math.nan, math.nan]).compare([off(9e-6), off(0.0)])
    assert found == Comparison(pytest.approx(9e-6), TOLERANCE)  # pyright: ignore[reportArgumentType]
    assert found.same


@pytest.mark.parametrize(
    ("spreads", "errors", "same"),
    [
        ([1e-4, 1e-6], [1.2e-4, 1.2e-4], True),  # the spread is the voice's, not a sentence's
        ([1e-4, 1e-6], [1.2e-4, 2.1e-4], False),
        ([1e-6, 1e-6], [1.2e-5, 0.0], False),
        ([0.1, 0.1], [2e-3, 0.0], False),  # a graph that is all rounding is no excuse
        ([math.inf, 1e-4], [0.5, 1e-4], True),  # a sentence that rounding makes longer says nothing
        ([math.inf, math.inf], [0.5, 0.5], False),
    ],
)
def test_rounding_passes_and_anything_else_does_not(
    spreads: list[float], errors: list[float], same: bool
) -> None:
    assert reference(spreads).compare([off(error) for error in errors]).same is same


def test_another_length_is_never_the_same() -> None:
    assert not reference([1e-4]).compare([ZEROS[:-1]]).same
    assert difference(ZEROS, np.full(10, np.nan, np.float32)) == math.inf


def test_the_spread_of_a_real_graph_is_rounding() -> None:
    path = VOICES / "plain.onnx"
    feeds = [whole_feed(find_inputs(read_model(path)), trial) for trial in TRIALS]
    found = ReferenceSounds(path, feeds)
    assert len({len(sound) for sound in found.sounds}) == len(TRIALS)
    assert max(found.spreads) <= TOLERANCE


def test_difference_of_unlike_things_is_infinite() -> None:
    assert difference(np.zeros(3, np.float32), np.zeros(4, np.float32)) == float("inf")
    assert difference(np.zeros(1, np.float32), np.array([np.nan], np.float32)) == float("inf")
