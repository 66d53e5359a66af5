"""Speculative turns: what may be committed when, and who waits for how long."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.messages import TurnId
from s2s.core.speculation import MAX_TRACKED_TURNS, PENDING_REOPEN_S, SpeculativeTurns, Verdict

FIRST = TurnId("t", 0)
SECOND = TurnId("t", 1)


def turns_with(grace_until_s: float) -> tuple[ManualClock, SpeculativeTurns]:
    clock = ManualClock()
    turns = SpeculativeTurns(clock)
    turns.observe(FIRST, grace_until_s=grace_until_s)
    return clock, turns


def test_an_unknown_turn_is_stale() -> None:
    turns = SpeculativeTurns(ManualClock())
    assert turns.verdict(FIRST) is Verdict.STALE
    assert not turns.commit(FIRST)
    assert not turns.is_latest_after_reopen_grace(FIRST)


def test_waits_exactly_for_the_grace() -> None:
    clock, turns = turns_with(1.5)
    assert turns.verdict(FIRST) is Verdict.PENDING
    assert turns.is_latest_after_reopen_grace(FIRST)
    assert clock.now() == 1.5


def test_a_grace_set_later_wakes_the_waiter() -> None:
    clock = ManualClock()
    turns = SpeculativeTurns(clock)
    turns.observe(FIRST)
    answers: list[tuple[bool, float]] = []
    worker = clock.start(
        lambda: answers.append((turns.is_latest_after_reopen_grace(FIRST), clock.now())), "tts"
    )
    clock.wait_until(0.2)
    turns.set_grace(FIRST, 0.5)
    worker.join()
    assert answers == [(True, 0.5)]


def test_confirmed_reopening_makes_the_old_revision_stale() -> None:
    _, turns = turns_with(10.0)
    assert turns.begin_reopen("t")
    assert turns.confirm_reopen("t") == SECOND
    assert turns.verdict(FIRST) is Verdict.STALE
    assert turns.is_latest(SECOND)


def test_a_pending_reopening_holds_the_turn_back_and_is_void_after_a_while() -> None:
    clock, turns = turns_with(0.0)
    turns.begin_reopen("t")
    assert not turns.commit(FIRST)
    assert turns.is_latest_after_reopen_grace(FIRST)
    assert clock.now() == PENDING_REOPEN_S
    assert turns.commit(FIRST)


def test_a_cancelled_reopening_restores_the_pending_answer() -> None:
    _, turns = turns_with(0.0)
    turns.begin_reopen("t")
    turns.cancel_reopen("t")
    assert turns.verdict(FIRST) is Verdict.LATEST
    assert turns.commit(FIRST)


def test_a_committed_turn_cannot_be_reopened() -> None:
    _, turns = turns_with(0.0)
    assert turns.commit(FIRST)
    assert not turns.begin_reopen("t")
    assert turns.confirm_reopen("t") is None
    assert turns.is_committed("t")
    assert turns.verdict(FIRST) is Verdict.LATEST


def test_an_older_revision_changes_nothing() -> None:
    _, turns = turns_with(0.0)
    turns.observe(SECOND, grace_until_s=5.0)
    turns.observe(FIRST, grace_until_s=0.0)
    turns.set_grace(FIRST, 0.0)
    assert turns.verdict(SECOND) is Verdict.PENDING


def test_an_interruption_ends_the_wait() -> None:
    clock = ManualClock()
    turns, scope = SpeculativeTurns(clock), CancelScope(clock)
    turns.observe(FIRST)
    generation = scope.generation
    answers: list[bool] = []

    def wait() -> None:
        answers.append(
            turns.is_latest_after_reopen_grace(FIRST, stale=lambda: scope.is_stale(generation))
        )

    worker = clock.start(wait, "tts")
    clock.wait_until(1.0)
    scope.cancel()
    turns.wake()
    worker.join()
    assert answers == [False]
    assert clock.now() == 1.0


def test_memory_is_bounded_and_a_forgotten_turn_stays_stale() -> None:
    turns = SpeculativeTurns(ManualClock())
    for number in range(MAX_TRACKED_TURNS + 1):
        turns.observe(TurnId(f"t{number}", 0), grace_until_s=0.0)
    assert turns.verdict(TurnId("t0", 0)) is Verdict.STALE
    assert turns.is_committed("t0")
    assert not turns.begin_reopen("t0")
    assert turns.commit(TurnId(f"t{MAX_TRACKED_TURNS}", 0))


def test_reset_makes_everything_stale() -> None:
    _, turns = turns_with(0.0)
    turns.reset()
    assert turns.verdict(FIRST) is Verdict.STALE


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["begin", "cancel", "confirm", "commit", "wait"]), max_size=30))
def test_a_commit_is_final_and_only_of_the_newest_revision(steps: list[str]) -> None:
    clock, turns = turns_with(0.0)
    current, committed = FIRST, None
    for step in steps:
        match step:
            case "begin":
                assert turns.begin_reopen("t") == (committed is None)
            case "cancel":
                turns.cancel_reopen("t")
            case "confirm":
                reopened = turns.confirm_reopen("t")
                assert (reopened is None) == (committed is not None)
                if reopened is not None:
                    assert reopened.turn_revision == current.turn_revision + 1
                    current = reopened
                    turns.set_grace(current, clock.now())
            case "commit":
                if turns.commit(current):
                    committed = current
            case "wait":
                clock.wait_until(clock.now() + 1.0)
        for revision in range(current.turn_revision):
            assert not turns.commit(TurnId("t", revision))
        assert turns.is_committed("t") == (committed is not None)


# --- provisional starts --------------------------------------------------------------------------


def begun(grace_until_s: float = 1.5) -> tuple[ManualClock, SpeculativeTurns]:
    """A turn whose answer began provisionally at 0.3 s."""
    clock, turns = turns_with(math.inf)
    turns.set_grace(FIRST, grace_until_s, provisional_from_s=0.3)
    clock.wait_until(0.3)
    assert turns.begin_provisionally(FIRST)
    return clock, turns


def test_an_answer_may_begin_provisionally_from_the_moment_given_and_not_before() -> None:
    clock, turns = turns_with(math.inf)
    turns.set_grace(FIRST, 1.5, provisional_from_s=0.3)
    assert turns.verdict(FIRST) is Verdict.PENDING
    assert not turns.begin_provisionally(FIRST)
    assert turns.is_latest_after_reopen_grace(FIRST, provisionally=True)
    assert clock.now() == 0.3
    assert turns.verdict(FIRST) is Verdict.PROVISIONAL
    assert not turns.is_provisional(FIRST)
    assert turns.begin_provisionally(FIRST)
    assert turns.is_provisional(FIRST)


def test_without_a_moment_for_it_no_answer_begins_provisionally() -> None:
    clock, turns = turns_with(1.5)
    clock.wait_until(1.4)
    assert not turns.begin_provisionally(FIRST)
    assert turns.is_latest_after_reopen_grace(FIRST, provisionally=True)
    assert clock.now() == 1.5


def test_a_provisional_start_is_committed_by_time_alone() -> None:
    clock, turns = begun()
    clock.wait_until(1.49)
    assert not turns.is_committed("t")
    clock.wait_until(1.5)
    assert turns.is_committed("t")
    assert not turns.is_provisional(FIRST)
    assert not turns.begin_reopen("t")
    assert turns.confirm_reopen("t") is None


def test_a_pending_reopening_holds_the_commit_of_a_provisional_start_back() -> None:
    clock, turns = begun()
    assert turns.begin_reopen("t")
    assert turns.verdict(FIRST) is Verdict.PENDING
    clock.wait_until(1.6)
    assert turns.is_provisional(FIRST)
    turns.cancel_reopen("t")
    assert turns.is_committed("t")


def test_a_start_that_is_taken_back_is_the_last_provisional_one_of_its_turn() -> None:
    clock, turns = begun()
    assert turns.begin_reopen("t")
    assert turns.confirm_reopen("t") == SECOND
    assert turns.is_superseded(FIRST)
    assert not turns.is_superseded(SECOND)
    assert not turns.is_provisional(FIRST)
    assert not turns.is_provisional(SECOND)
    turns.set_grace(SECOND, 3.0, provisional_from_s=0.5)
    clock.wait_until(2.9)
    assert turns.verdict(SECOND) is Verdict.PENDING
    assert not turns.begin_provisionally(SECOND)


def test_a_grace_that_becomes_longer_leaves_what_has_begun_provisional() -> None:
    clock, turns = begun(1.0)
    turns.set_grace(FIRST, 2.0, provisional_from_s=1.8)
    clock.wait_until(1.5)
    assert turns.verdict(FIRST) is Verdict.PROVISIONAL
    clock.wait_until(2.0)
    turns.set_grace(FIRST, 9.0, provisional_from_s=8.0)  # too late: it is over
    assert turns.is_committed("t")


def test_an_answer_that_was_dealt_with_is_given_unless_the_person_is_going_on() -> None:
    _, turns = begun()
    turns.commit_provisional()
    assert turns.is_committed("t")
    _, turns = begun()
    turns.begin_reopen("t")
    turns.commit_provisional()
    assert not turns.is_committed("t")
    assert turns.confirm_reopen("t") == SECOND


STEPS = ["begin", "cancel", "confirm", "commit", "start", "wait", "wait a little", "give"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(STEPS), max_size=40))
def test_a_start_is_taken_back_before_its_commit_or_never_and_once_a_turn(steps: list[str]) -> None:
    clock, turns = turns_with(math.inf)
    turns.set_grace(FIRST, 1.0, provisional_from_s=0.25)
    current, taken_back, reopening = FIRST, 0, False
    for step in steps:
        committed, provisional = turns.is_committed("t"), turns.is_provisional(current)
        assert not (committed and provisional)
        match step:
            case "begin":
                reopening = turns.begin_reopen("t")
                assert reopening != committed
            case "cancel":
                turns.cancel_reopen("t")
            case "confirm":
                revised = turns.confirm_reopen("t")
                assert (revised is None) == committed
                if revised is not None:
                    taken_back += provisional
                    current = revised
                    now_s = clock.now()
                    turns.set_grace(current, now_s + 1.0, provisional_from_s=now_s + 0.25)
            case "commit":
                turns.commit(current)
            case "start":
                assert not (turns.begin_provisionally(current) and (committed or taken_back))
            case "give":
                turns.commit_provisional()
            case "wait":
                clock.wait_until(clock.now() + 1.0)
            case _:
                clock.wait_until(clock.now() + 0.125)
        assert turns.is_committed("t") or not committed
    assert taken_back <= 1
