"""Who computes: threads by what others use, and what waits for what."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.work import Shift, Work, each
from s2s.system.compute import OtherLoad, SharedCompute, counters


class Machine:
    """A processor whose counters the test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.busy_s = 0.0
        self.own_s = 0.0
        self.reads = 0

    def read(self) -> tuple[float, float]:
        self.reads += 1
        return self.busy_s, self.own_s

    def run(self, seconds: float, *, others: float = 0.0, own: float = 0.0) -> None:
        """`others` and `own` cores are used for so long."""
        self.now_s += seconds
        self.busy_s += seconds * (others + own)
        self.own_s += seconds * own

    def load(self) -> OtherLoad:
        return OtherLoad(self.read, lambda: self.now_s)


def test_what_others_use_is_all_but_our_own() -> None:
    machine = Machine()
    load = machine.load()
    machine.run(0.5, others=0.75, own=1.25)
    assert load.cores() == pytest.approx(0.75)


def test_only_the_last_second_counts() -> None:
    machine = Machine()
    load = machine.load()
    for _ in range(20):
        machine.run(0.25, others=2.0)
        load.observe()
    for _ in range(5):
        machine.run(0.25)
        load.observe()
    assert load.cores() == 0.0


def test_counters_are_not_read_more_often_than_they_move() -> None:
    machine = Machine()
    load = machine.load()
    for _ in range(100):
        machine.run(0.01)
        load.observe()
    assert machine.reads <= 11


def test_nothing_is_known_at_first_and_counters_may_stand_still() -> None:
    load = Machine().load()
    assert load.cores() == 0.0


def compute(others: float, cores: int = 2) -> SharedCompute:
    machine = Machine()
    load = machine.load()
    machine.run(1.0, others=others)
    return SharedCompute(count=cores, load=load)


@pytest.mark.parametrize(
    ("others", "threads"), [(0.0, 2), (0.05, 2), (0.3, 1), (1.0, 1), (2.0, 2), (4.0, 2)]
)
def test_as_many_threads_as_cores_are_free_and_two_where_none_is(
    others: float, threads: int
) -> None:
    assert compute(others).threads(Work.FIRST_SOUND, 4) == threads


def test_more_urgent_work_keeps_its_cores() -> None:
    on = compute(0.0, cores=4)
    with on.working(Work.FIRST_SOUND, 2):
        assert on.threads(Work.TEXT_AHEAD, 4) == 2
        assert on.threads(Work.HEARING, 4) == 4
        assert on.threads(Work.FIRST_SOUND, 4) == 4
    assert on.threads(Work.TEXT_AHEAD, 4) == 4


def test_work_ahead_waits_where_no_core_is_left() -> None:
    on = compute(1.0)
    went = threading.Event()

    def ahead() -> None:
        on.wait(Work.TEXT_AHEAD)
        went.set()

    urgent = on.working(Work.FIRST_SOUND)
    with urgent:
        thread = threading.Thread(target=ahead)
        thread.start()
        assert not went.wait(0.05)
    thread.join()
    assert went.is_set()


def test_work_ahead_goes_on_beside_urgent_work_where_a_core_is_free() -> None:
    on = compute(0.0)
    with on.working(Work.FIRST_SOUND):
        on.wait(Work.TEXT_AHEAD)
    with on.working(Work.TEXT_AHEAD, 2):
        on.wait(Work.FIRST_SOUND)


def test_text_leaves_a_core_to_a_chunk_of_sound_that_is_being_made() -> None:
    on = compute(0.0)
    with on.working(Work.SOUND_LATER, 2):
        assert on.threads(Work.TEXT_AHEAD, 2) == 1
        assert on.threads(Work.FIRST_SOUND, 2) == 2
    with on.working(Work.SOUND_LATER, 1):
        assert on.threads(Work.TEXT_AHEAD, 2) == 1


def test_sound_of_which_enough_is_there_waits_for_text_but_not_for_long() -> None:
    on = compute(0.0)
    with on.working(Work.TEXT_AHEAD, 2):
        on.wait(Work.SOUND_AHEAD)  # this does not
        on.wait(Work.SOUND_LATER)  # this ends by itself, before the sound runs dry
    with on.working(Work.TEXT_AHEAD, 1):
        on.wait(Work.SOUND_LATER)


def test_what_is_no_longer_wanted_does_not_wait() -> None:
    on = compute(2.0)
    with on.working(Work.FIRST_SOUND):
        on.wait(Work.TEXT_AHEAD, stop=lambda: True)


@given(
    others=st.floats(0, 64),
    cores=st.integers(1, 32),
    most=st.integers(1, 64),
    urgent=st.integers(0, 64),
    work=st.sampled_from(Work),
)
def test_there_is_always_a_thread_and_never_more_than_asked(
    others: float, cores: int, most: int, urgent: int, work: Work
) -> None:
    on = compute(others, cores)
    with on.working(Work.HEARING, urgent):
        assert 1 <= on.threads(work, most) <= most


def test_the_systems_counters_only_grow() -> None:
    before, own_before = counters()
    sum(range(100_000))
    after, own_after = counters()
    assert after >= before > 0
    assert own_after > own_before


def test_what_is_made_piece_by_piece_is_noted_while_it_is_made() -> None:
    on = compute(0.0)
    seen: list[int] = []
    closed: list[bool] = []

    def pieces() -> Iterator[int]:
        try:
            for at in range(3):
                seen.append(on.threads(Work.TEXT_AHEAD, 2))
                yield at
        finally:
            closed.append(True)

    work = Work.FIRST_SOUND
    made = each(pieces(), Shift(on, lambda: work))
    assert next(made) == 0
    assert on.threads(Work.TEXT_AHEAD, 2) == 2
    work = Work.TEXT_AHEAD
    assert next(made) == 1
    made.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert seen == [1, 2]
    assert closed == [True]
