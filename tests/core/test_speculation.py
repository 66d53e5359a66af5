"""Speculative turns: what may be committed when, and who waits for how long."""

from __future__ import annotations

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
