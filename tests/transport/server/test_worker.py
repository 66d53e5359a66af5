"""Work in threads for coroutines: its turn, its end, and its stop. Nothing waits for time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing

import pytest
from starlette.requests import Request
from starlette.types import Message

from s2s.transport.server.reply import ApiError
from s2s.transport.server.worker import Stop, Workers, while_connected

WAIT_S = 30.0
"""At most, for what comes at once: a test that fails says so."""


def run(main: Callable[[Workers], Awaitable[None]], most: int = 1, waiting: int = 8) -> None:
    async def whole() -> None:
        workers = Workers(most, waiting)
        try:
            await asyncio.wait_for(main(workers), WAIT_S)
        finally:
            workers.close()

    asyncio.run(whole())


def three(stop: Stop) -> Iterator[int]:
    return iter(range(3))


# --- places --------------------------------------------------------------------------------------


def test_who_comes_beyond_the_places_is_told_to_come_again() -> None:
    async def main(workers: Workers) -> None:
        with workers.place(), workers.place():
            assert workers.here == 2
            with pytest.raises(ApiError) as refused, workers.place():
                pass
            assert (refused.value.status, refused.value.code) == (503, "server_busy")
            assert refused.value.retry_after_s == 2
            assert workers.here == 2
        assert workers.here == 0
        with workers.place():
            assert workers.here == 1

    run(main, most=1, waiting=1)


def test_a_request_that_fails_leaves_its_place() -> None:
    async def main(workers: Workers) -> None:
        with pytest.raises(KeyError), workers.place():
            raise KeyError("inner")
        assert workers.here == 0

    run(main)


# --- one call ------------------------------------------------------------------------------------


def test_a_call_gives_what_its_work_returns_or_raises() -> None:
    def fails(stop: Stop) -> None:
        raise KeyError("inner")

    async def main(workers: Workers) -> None:
        main_thread = threading.get_ident()
        assert await workers.call(lambda stop: (stop(), threading.get_ident() == main_thread)) == (
            False,
            False,
        )
        with pytest.raises(KeyError):
            await workers.call(fails)
        assert await workers.call(lambda stop: 3) == 3

    run(main)


def test_work_of_who_no_longer_waits_is_told_to_stop_and_the_next_has_its_turn() -> None:
    began, go_on = threading.Event(), threading.Event()
    stopped: list[bool] = []

    def works(stop: Stop) -> None:
        began.set()
        go_on.wait(WAIT_S)
        stopped.append(stop())

    async def main(workers: Workers) -> None:
        first = asyncio.ensure_future(workers.call(works))
        await asyncio.to_thread(began.wait, WAIT_S)
        first.cancel()
        assert isinstance((await asyncio.gather(first, return_exceptions=True))[0],
                          asyncio.CancelledError)  # fmt: skip
        go_on.set()
        assert await workers.call(lambda stop: list(stopped)) == [True]

    run(main)


def test_no_more_is_worked_on_at_a_time_than_there_are_threads() -> None:
    began, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def first(stop: Stop) -> None:
        began.set()
        go_on.wait(WAIT_S)
        order.append("first")

    async def main(workers: Workers) -> None:
        one = asyncio.ensure_future(workers.call(first))
        await asyncio.to_thread(began.wait, WAIT_S)
        two = asyncio.ensure_future(workers.call(lambda stop: order.append("second")))
        await asyncio.sleep(0)
        assert order == []
        go_on.set()
        await asyncio.gather(one, two)
        assert order == ["first", "second"]

    run(main)


def test_after_the_end_no_work_is_taken() -> None:
    async def main(workers: Workers) -> None:
        workers.close()
        with pytest.raises(RuntimeError):
            await workers.call(lambda stop: 1)

    run(main)


# --- streams -------------------------------------------------------------------------------------


def test_a_stream_comes_in_order_and_ends() -> None:
    async def main(workers: Workers) -> None:
        assert [each async for each in workers.stream(three)] == [0, 1, 2]
        assert [each async for each in workers.stream(lambda stop: iter(()))] == []

    run(main)


def test_what_a_stream_fails_with_comes_behind_what_was_made() -> None:
    def breaks(stop: Stop) -> Iterator[int]:
        yield 1
        raise KeyError("inner")

    def breaks_at_once(stop: Stop) -> Iterator[int]:
        raise ValueError("no model")

    async def main(workers: Workers) -> None:
        async with aclosing(workers.stream(breaks)) as numbers:
            assert await anext(numbers) == 1
            with pytest.raises(KeyError):
                await anext(numbers)
        with pytest.raises(ValueError, match="no model"):
            await anext(workers.stream(breaks_at_once))
        assert [each async for each in workers.stream(three)] == [0, 1, 2]

    run(main)


def test_who_stops_reading_stops_the_work() -> None:
    ended = threading.Event()

    def endless(stop: Stop) -> Iterator[int]:
        number = 0
        while not stop():
            yield number
            number += 1
        ended.set()

    async def main(workers: Workers) -> None:
        async with aclosing(workers.stream(endless)) as numbers:
            assert await anext(numbers) == 0
            assert await anext(numbers) == 1
        # One thread: the next work begins when the endless one has ended.
        assert await workers.call(lambda stop: 7) == 7

    run(main)


def test_a_slow_reader_holds_up_nobody_else() -> None:
    async def main(workers: Workers) -> None:
        async with aclosing(workers.stream(three)) as numbers:
            assert await anext(numbers) == 0
            assert await workers.call(lambda stop: "done") == "done"
            assert [each async for each in numbers] == [1, 2]

    run(main)


# --- clients that hang up ------------------------------------------------------------------------


def request(*messages: Message) -> Request:
    """One whose client sends these and then nothing more."""
    waiting = list(messages)

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    return Request({"type": "http", "headers": []}, receive)


def test_work_ends_with_what_it_gives_while_its_client_waits() -> None:
    async def gives() -> int:
        return 3

    async def fails() -> int:
        raise KeyError("inner")

    async def main(_: Workers) -> None:
        assert await while_connected(request(), gives()) == 3
        with pytest.raises(KeyError):
            await while_connected(request(), fails())

    run(main)


def test_work_is_cancelled_when_its_client_hangs_up() -> None:
    ended: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def main(_: Workers) -> None:
        gone = request({"type": "http.request"}, {"type": "http.disconnect"})
        with pytest.raises(ApiError) as refused:
            await while_connected(gone, endless())
        assert (refused.value.status, refused.value.code) == (499, "client_gone")
        assert ended == ["cancelled"]

    run(main)
