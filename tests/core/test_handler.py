"""The one loop: order, failures, deadlines, and the end that travels behind the last message."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from s2s.core.channel import Channel, Closed
from s2s.core.clock import ManualClock
from s2s.core.handler import Handler, Stage
from s2s.core.messages import SessionEnd


class Doubler(Handler[object, object]):
    """Gives each message twice; fails on "bad"; ticks after two seconds of nothing."""

    name = "doubler"

    def __init__(self, clock: ManualClock, *, ticks: bool = False) -> None:
        self.ended: list[str] = []
        self._clock = clock
        self._tick_at_s = 2.0 if ticks else None

    def process(self, message: object) -> Iterable[object]:
        yield message
        if message == "bad":
            raise RuntimeError("no good")
        yield message

    def failed(self, message: object, error: Exception) -> Iterable[object]:
        yield f"failed: {error}"

    def deadline_s(self) -> float | None:
        return self._tick_at_s

    def expired(self) -> Iterable[object]:
        self._tick_at_s = None
        yield f"tick at {self._clock.now()}"

    def end_session(self) -> None:
        self.ended.append("session")

    def close(self) -> None:
        self.ended.append("closed")


def running(
    handler: Handler[object, object], clock: ManualClock
) -> tuple[Channel[object], Channel[object], Stage[object, object]]:
    inbox: Channel[object] = Channel(4, clock=clock)
    outbox: Channel[object] = Channel(8, clock=clock)
    stage = Stage(handler, inbox, outbox, clock)
    stage.start()
    return inbox, outbox, stage


def test_outputs_leave_in_order_and_the_end_travels_behind_them() -> None:
    clock = ManualClock()
    handler = Doubler(clock)
    inbox, outbox, stage = running(handler, clock)
    inbox.put(1)
    inbox.put(2)
    inbox.close()
    assert list(outbox) == [1, 1, 2, 2]
    assert stage.join(1.0)
    assert handler.ended == ["closed"]


def test_a_failure_becomes_a_message_and_the_next_one_works() -> None:
    clock = ManualClock()
    inbox, outbox, stage = running(Doubler(clock), clock)
    inbox.put("bad")
    inbox.put("good")
    inbox.close()
    assert list(outbox) == ["bad", "failed: no good", "good", "good"]
    assert stage.join(1.0)


def test_a_deadline_without_a_message_expires_once() -> None:
    clock = ManualClock()
    inbox, outbox, stage = running(Doubler(clock, ticks=True), clock)
    assert outbox.get() == "tick at 2.0"
    inbox.close()
    assert stage.join(1.0)


def test_a_session_end_is_dealt_with_and_goes_on() -> None:
    clock = ManualClock()
    handler = Doubler(clock)
    inbox, outbox, stage = running(handler, clock)
    inbox.put(SessionEnd("s"))
    assert outbox.get() == SessionEnd("s")
    assert handler.ended == ["session"]
    inbox.close()
    assert stage.join(1.0)


def test_it_is_idle_only_when_nothing_waits_and_nothing_is_worked_on() -> None:
    clock = ManualClock()
    inbox, outbox, stage = running(Doubler(clock), clock)
    assert stage.idle
    for number in range(5):  # nine outputs fill the outbox: the stage waits while it works
        inbox.put(number)
    clock.wait_until(0.1)
    assert not stage.idle
    while len(outbox):
        outbox.get()
        clock.wait_until(clock.now() + 0.1)
    assert stage.idle
    inbox.close()
    assert stage.join(1.0)


def test_a_closed_outbox_ends_the_thread() -> None:
    clock = ManualClock()
    inbox, outbox, stage = running(Doubler(clock), clock)
    outbox.close(discard=True)
    inbox.put(1)
    assert stage.join(1.0)
    try:
        inbox.put(2)
    except Closed:
        raise AssertionError("an inbox is closed by its writer, not its reader") from None


def test_a_failure_that_cannot_be_told_does_not_end_the_stage() -> None:
    class Speechless(Doubler):
        def failed(self, message: object, error: Exception) -> Iterable[object]:
            raise ValueError("nor this")

    clock = ManualClock()
    inbox, outbox, _ = running(Speechless(clock), clock)
    for message in ("bad", "good"):
        inbox.put(message)
    inbox.close()
    assert list(outbox) == ["bad", "good", "good"]


def test_who_has_a_thread_of_its_own_for_it_works_and_ends_it() -> None:
    clock = ManualClock()
    inbox: Channel[object] = Channel(4, clock=clock)
    outbox: Channel[object] = Channel(8, clock=clock)
    handler = Doubler(clock, ticks=True)
    stage = Stage(handler, inbox, outbox, clock)
    stage.work("bad")
    stage.work(None)
    stage.work("good")
    assert stage.idle
    assert stage.sent == 5
    stage.end()
    assert list(outbox) == ["bad", "failed: no good", "tick at 0.0", "good", "good"]
    assert handler.ended == ["closed"]
    assert stage.join(0.0)


def test_who_works_on_it_is_told_that_nobody_takes_what_comes_of_it() -> None:
    clock = ManualClock()
    outbox: Channel[object] = Channel(8, clock=clock)
    stage = Stage(Doubler(clock), Channel[object](4, clock=clock), outbox, clock)
    outbox.close()
    with pytest.raises(Closed):
        stage.work(1)
    assert stage.idle
