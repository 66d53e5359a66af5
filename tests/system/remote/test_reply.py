"""One answer, put in by an event loop and read by a thread: its order, its end, and its time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator

import pytest

from s2s.core.stop import Listeners, StopSignal
from s2s.system.remote.errors import RemoteError
from s2s.system.remote.reply import ARRIVED, Head, Reply, Waiting, Waits
from tests.support.patience import PATIENCE_S

PATIENT = Waits(PATIENCE_S, PATIENCE_S, PATIENCE_S, 0.0)
Exchange = Callable[[Reply], Coroutine[object, object, None]]


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    running = asyncio.new_event_loop()
    thread = threading.Thread(target=running.run_forever)
    thread.start()
    yield running
    running.call_soon_threadsafe(running.stop)
    thread.join(PATIENCE_S)
    running.close()


def reply(
    loop: asyncio.AbstractEventLoop,
    exchange: Exchange,
    waits: Waits = PATIENT,
    stop: Callable[[], bool] = lambda: False,
) -> Reply:
    made = Reply("http://x", waits, stop)
    made.start(loop, exchange(made))
    return made


async def complete(made: Reply) -> None:
    await made.give(Head("text/plain"))
    for data in (b"one", b"", b"two"):
        await made.give(data)
    made.end(None)


async def for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def test_pieces_come_in_order_and_then_the_end(loop: asyncio.AbstractEventLoop) -> None:
    with reply(loop, complete) as made:
        assert made.content_type == "text/plain"
        assert list(made) == [b"one", b"two"]
        assert list(made) == []


def test_all_of_it_is_read_up_to_a_limit(loop: asyncio.AbstractEventLoop) -> None:
    assert reply(loop, complete).read() == b"onetwo"
    assert reply(loop, complete).read(2) == b"one"


def test_a_failure_comes_after_what_arrived_before_it(loop: asyncio.AbstractEventLoop) -> None:
    async def fails(made: Reply) -> None:
        await made.give(Head(""))
        await made.give(b"one")
        made.end(RemoteError("the line is cut"))

    pieces = iter(reply(loop, fails))
    assert next(pieces) == b"one"
    with pytest.raises(RemoteError, match="the line is cut"):
        next(pieces)


def test_a_reader_that_is_slow_makes_the_server_wait(loop: asyncio.AbstractEventLoop) -> None:
    sent: list[int] = []

    async def long(made: Reply) -> None:
        await made.give(Head(""))
        for number in range(3 * ARRIVED):
            await made.give(b"x")
            sent.append(number)
        made.end(None)

    with reply(loop, long) as made:
        assert made.content_type == ""
        assert len(sent) <= ARRIVED + 1
        assert made.read() == b"x" * 3 * ARRIVED


@pytest.mark.parametrize(
    ("waits", "head", "said"),
    [
        (Waits(0.05, 60.0, 60.0, 0.0), False, "0.05 s"),
        (Waits(60.0, 0.05, 60.0, 0.0), True, "0.05 s"),
        (Waits(60.0, 60.0, 0.07, 0.0), True, "0.07 s"),
    ],
)
def test_silence_is_not_waited_for_longer_than_allowed(
    loop: asyncio.AbstractEventLoop, waits: Waits, head: bool, said: str
) -> None:
    async def silent(made: Reply) -> None:
        if head:
            await made.give(Head(""))
        await for_ever()

    with (
        reply(loop, silent, waits) as made,
        pytest.raises(RemoteError, match=f"no answer for {said}"),
    ):
        list(made)


def test_a_busy_server_gets_more_time(loop: asyncio.AbstractEventLoop) -> None:
    async def busy(made: Reply) -> None:
        await made.give(Waiting(PATIENCE_S))
        await asyncio.sleep(0.2)
        await complete(made)

    with reply(loop, busy, Waits(0.05, PATIENCE_S, 2 * PATIENCE_S, 0.0)) as made:
        before_s = made.tried_s
        assert made.content_type == "text/plain"
        assert made.tried_s >= before_s + PATIENCE_S


@pytest.mark.parametrize("signal", [False, True])
def test_stopping_ends_it_quietly_and_cancels_the_exchange(
    loop: asyncio.AbstractEventLoop, signal: bool
) -> None:
    cancelled, stopped, source = threading.Event(), threading.Event(), Listeners()

    async def silent(made: Reply) -> None:
        await made.give(Head(""))
        loop.call_later(0.01, tell)
        try:
            await for_ever()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def tell() -> None:
        stopped.set()
        source.tell()

    stop = StopSignal(stopped.is_set, source) if signal else stopped.is_set
    with reply(loop, silent, stop=stop) as made:
        assert list(made) == []
    assert cancelled.wait(PATIENCE_S)


def test_a_loop_that_has_ended_is_an_error() -> None:
    ended = asyncio.new_event_loop()
    ended.close()
    with pytest.raises(RemoteError, match="asked after it was closed"):
        list(reply(ended, complete))


def test_closing_before_it_began_runs_nothing() -> None:
    ran: list[Awaitable[None]] = []
    running = asyncio.new_event_loop()

    async def never(made: Reply) -> None:
        ran.append(made.give(b""))

    made = Reply("http://x", PATIENT, lambda: False)
    made.start(running, never(made))
    made.close()
    running.run_until_complete(asyncio.sleep(0))
    running.close()
    assert ran == []
