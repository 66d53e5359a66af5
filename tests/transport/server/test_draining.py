"""A server that ends closes each connection once nobody loses a word by it; in simulated time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from s2s.transport.server.draining import COME_AGAIN, LOOK_S, OpenConnections


class Clock:
    """Time that passes with each pause."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    async def pause(self, seconds: float) -> None:
        self.now_s += seconds
        await asyncio.sleep(0)


@dataclass
class Socket:
    """Is told to close once, and leaves then."""

    clock: Clock
    leave: Callable[[], None] = lambda: None
    closed: list[tuple[int, float]] = field(default_factory=list)
    error: Exception | None = None

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self.closed.append((code, self.clock()))
        self.leave()
        if self.error is not None:
            raise self.error


@dataclass
class Session:
    """Quiet from a moment on."""

    clock: Clock
    from_s: float

    @property
    def quiet(self) -> bool:
        return self.clock() >= self.from_s


def drained(
    ends_s: list[float | None], within_s: float, error: Exception | None = None
) -> tuple[list[float], int]:
    """When connections were closed, after the beginning: their answers end so late, or there is no
    session yet; and how many were cut off."""
    clock = Clock()
    connections = OpenConnections(clock, clock.pause)
    sockets: list[Socket] = []

    async def run() -> int:
        for end_s in ends_s:
            held = ExitStack()
            socket = Socket(clock, held.close, error=error)
            connection = held.enter_context(connections.held(socket))
            if end_s is not None:
                connection.session = Session(clock, 100.0 + end_s)
            sockets.append(socket)
        return await connections.drain(within_s)

    late = asyncio.run(run())
    assert len(connections) == 0
    assert all([code for code, _ in each.closed] == [COME_AGAIN] for each in sockets)
    return [each.closed[0][1] - 100.0 for each in sockets], late


def test_who_is_quiet_goes_at_once_and_who_is_answered_afterwards() -> None:
    (first, second, third), late = drained([0.0, 3.0, None], 30.0)
    assert max(first, third) < 2 * LOOK_S
    assert 3.0 <= second < 3.0 + 2 * LOOK_S
    assert late == 0


def test_nobody_is_waited_for_without_end() -> None:
    (first, second), late = drained([1e9, 1.0], 5.0)
    assert 5.0 <= first < 5.0 + 2 * LOOK_S
    assert second < 1.0 + 2 * LOOK_S
    assert late == 1


def test_where_nobody_is_it_is_over_at_once() -> None:
    assert drained([], 30.0) == ([], 0)


def test_a_client_that_has_gone_meanwhile_holds_nothing_up() -> None:
    assert drained([0.0, 0.0], 30.0, ConnectionError("gone"))[1] == 0


@given(
    st.lists(st.none() | st.floats(0, 60, allow_nan=False), max_size=5),
    st.floats(0, 40, allow_nan=False),
)
def test_each_goes_when_its_answer_is_over_or_time_is(
    ends_s: list[float | None], within_s: float
) -> None:
    closed_s, late = drained(ends_s, within_s)
    for end_s, closed in zip(ends_s, closed_s, strict=True):
        due_s = min(end_s or 0.0, within_s)
        assert due_s - 1e-6 <= closed <= due_s + 2 * LOOK_S
    certain = sum((end_s or 0.0) > within_s + LOOK_S for end_s in ends_s)
    possible = sum((end_s or 0.0) > 0.0 for end_s in ends_s)
    assert certain <= late <= possible


def test_a_connection_that_left_is_not_drained() -> None:
    clock = Clock()
    connections = OpenConnections(clock, clock.pause)
    socket = Socket(clock)
    with connections.held(socket):
        assert len(connections) == 1
    assert asyncio.run(connections.drain(1.0)) == 0
    assert socket.closed == []
