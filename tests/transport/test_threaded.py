"""Things that a thread makes for a coroutine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from s2s.transport.threaded import Stop, ThreadStream

WAIT_S = 60.0


def test_what_is_made_arrives_in_order_and_so_does_what_it_failed_with() -> None:
    def numbers(stop: Stop) -> Iterator[int]:
        yield from range(3)
        raise KeyError("inner")

    async def main() -> list[int]:
        stream = ThreadStream(asyncio.get_running_loop(), numbers)
        thread = threading.Thread(target=stream.run)
        thread.start()
        items = stream.items()
        found = [await anext(items) for _ in range(3)]
        with pytest.raises(KeyError):
            await anext(items)
        thread.join(WAIT_S)
        return found

    assert asyncio.run(main()) == [0, 1, 2]


def test_who_gives_up_stops_the_work_also_where_it_waits_for_a_reader() -> None:
    def endless(stop: Stop) -> Iterator[int]:
        number = 0
        while not stop():
            yield number
            number += 1

    async def main() -> None:
        stream = ThreadStream(asyncio.get_running_loop(), endless)
        thread = threading.Thread(target=stream.run)
        thread.start()
        items = stream.items()
        assert await anext(items) == 0
        await items.aclose()
        stream.give_up()
        await asyncio.to_thread(thread.join, WAIT_S)
        assert not thread.is_alive()

    asyncio.run(main())
