"""Threads of the server: what they make, and when they stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from s2s.transport.threaded import Stop
from s2s.transport.wyoming.services import JobThreads

WAIT_S = 60.0


def test_a_call_gives_what_its_work_returns_or_raises() -> None:
    def fails(_: Stop) -> int:
        raise KeyError("inner")

    async def main(threads: JobThreads) -> int:
        with pytest.raises(KeyError):
            await threads.call(fails)
        return await threads.call(lambda _: threading.get_ident())

    threads = JobThreads(1)
    assert asyncio.run(main(threads)) != threading.get_ident()
    threads.close()


def test_a_stream_that_is_not_read_any_more_is_told_to_stop() -> None:
    def numbers(stop: Stop) -> Iterator[int]:
        number = 0
        while not stop():
            yield number
            number += 1

    async def main(threads: JobThreads) -> list[int]:
        found: list[int] = []
        for _ in range(3):
            found.clear()
            async with aclosing(threads.stream(numbers)) as made:
                async for number in made:
                    found.append(number)
                    if number == 3:
                        break
        # Two of such streams fill the threads; they are free again.
        assert await asyncio.wait_for(threads.call(lambda _: 7), WAIT_S) == 7
        return found

    threads = JobThreads(1)
    assert asyncio.run(main(threads)) == [0, 1, 2, 3]
    threads.close()
