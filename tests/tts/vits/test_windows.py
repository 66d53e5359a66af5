"""Windows cover an utterance exactly once, and the plan never lets playback run dry."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.vits.windows import (
    DEFAULT_SCHEDULE,
    Context,
    Cost,
    Window,
    fit_cost,
    keep,
    plan,
    windows,
)

SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=6)
CONTEXTS = st.builds(Context, st.integers(0, 40), st.integers(0, 40))


@given(frames=st.integers(0, 500), sizes=SIZES, context=CONTEXTS)
def test_windows_follow_each_other_without_gap(
    frames: int, sizes: list[int], context: Context
) -> None:
    cut = list(windows(frames, sizes, context))
    edges = [0, *(window.stop for window in cut)]
    assert [window.start for window in cut] == edges[:-1]
    assert edges[-1] == frames
    for window in cut:
        assert window.first == max(0, window.start - context.left)
        assert window.last == min(frames, window.stop + context.right)


@given(frames=st.integers(1, 500), sizes=SIZES, context=CONTEXTS, hop=st.integers(1, 5))
def test_kept_parts_join_to_the_whole(
    frames: int, sizes: list[int], context: Context, hop: int
) -> None:
    whole = np.arange(frames * hop, dtype=np.float32)
    parts = [
        keep(window, whole[window.first * hop : window.last * hop], hop)
        for window in windows(frames, sizes, context)
    ]
    assert np.array_equal(np.concatenate(parts), whole)


def test_a_short_rest_joins_the_last_window() -> None:
    assert [window.frames for window in windows(24, (8, 8), Context(2, 2))] == [8, 8, 8]
    assert [window.frames for window in windows(18, (8, 8), Context(2, 2))] == [8, 10]


def test_default_schedule_by_hand() -> None:
    cut = list(windows(60, DEFAULT_SCHEDULE, Context(11, 11)))
    assert cut == [Window(0, 8, 0, 19), Window(8, 24, 0, 35), Window(24, 60, 13, 60)]


@pytest.mark.parametrize("sizes", [(), (0,), (8, -1)])
def test_sizes_must_be_positive(sizes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        list(windows(10, sizes, Context(1, 1)))


def test_a_margin_is_not_negative() -> None:
    with pytest.raises(ValueError, match="negative"):
        Context(-1, 0)


def lateness(sizes: tuple[int, ...], cost: Cost, context: Context, frame_s: float, slow: float):
    """Seconds by which the worst chunk comes after the sound before it has been played."""
    now = slow * cost.of(sizes[0] + context.both)
    plays_until = now + sizes[0] * frame_s
    worst = float("-inf")
    for size in [*sizes[1:], *itertools.repeat(sizes[-1], 20)]:
        now += slow * cost.of(size + context.both)
        worst = max(worst, now - plays_until)
        plays_until = max(plays_until, now) + size * frame_s
    return worst


@given(
    fixed_ms=st.floats(0.0, 3.0),
    share=st.floats(0.01, 0.2),
    context=st.integers(0, 12),
)
def test_a_planned_schedule_is_never_late_at_half_the_speed(
    fixed_ms: float, share: float, context: int
) -> None:
    frame_s = 0.0116
    cost = Cost(fixed_ms / 1000.0, share * frame_s)
    around = Context(context, context)
    sizes = plan(cost, frame_s, around, first=16, safety=2.0)
    if 2.0 * cost.of(16 + around.both) <= 16 * frame_s:
        assert lateness(sizes, cost, around, frame_s, slow=2.0) <= 1e-9


def test_eight_then_a_hundred_and_sixty_is_late() -> None:
    cost, frame_s = Cost(0.001, 0.0008), 0.0116
    assert lateness((8, 160), cost, Context(11, 11), frame_s, slow=1.0) > 0.0


@given(share=st.floats(0.001, 3.0), largest=st.integers(8, 300))
def test_a_plan_grows_to_the_largest_and_ends(share: float, largest: int) -> None:
    sizes = plan(Cost(0.0, share * 0.01), 0.01, Context(0, 0), largest=largest)
    assert sizes[0] == 8
    assert max(sizes) <= max(8, largest)
    assert all(after <= 4 * before for before, after in itertools.pairwise(sizes))
    assert len(sizes) <= 16


def test_a_fast_machine_grows_by_four_each_time() -> None:
    assert plan(Cost(0.0, 1e-6), 0.01, Context(5, 5), largest=160) == (8, 32, 128, 160)


def test_a_machine_too_slow_keeps_small_chunks() -> None:
    assert plan(Cost(0.0, 1.0), 0.01, Context(0, 0)) == (8,)


def test_fit_finds_the_line() -> None:
    cost = fit_cost([(n, 0.002 + 0.0005 * n) for n in (16, 32, 64)])
    assert cost.fixed_s == pytest.approx(0.002)
    assert cost.frame_s == pytest.approx(0.0005)


def test_fit_of_noise_is_never_negative() -> None:
    cost = fit_cost([(16, 0.03), (32, 0.02), (64, 0.01)])
    assert (cost.fixed_s, cost.frame_s) == (pytest.approx(0.02), 0.0)


def test_fit_of_one_size_is_its_rate() -> None:
    assert fit_cost([(10, 0.5), (10, 0.5)]) == Cost(0.0, pytest.approx(0.05))
    with pytest.raises(ValueError, match="no measurements"):
        fit_cost([])
