"""Asking a model in another process: what comes, what fails, and what is given up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator

import pytest

from s2s.app.cluster.calls import CallLoop, ModelCalls, ModelFailed, StillWorking
from s2s.core.stop import Listeners, StopSignal
from s2s.tts.base import TtsError


class Handle:
    """Processes that give what a test scripts."""

    def __init__(self, script: Callable[[], AsyncGenerator[object]]) -> None:
        self.script = script
        self.asked: list[tuple[object, ...]] = []
        self.ended = threading.Event()

    async def ask(self, method: str, *given: object) -> AsyncGenerator[object]:
        self.asked.append((method, *given))
        try:
            async for item in self.script():
                yield item
        finally:
            self.ended.set()


@pytest.fixture
def loop() -> Iterator[CallLoop]:
    made = CallLoop()
    yield made
    made.close()


def calls(handle: Handle, loop: CallLoop, wait_s: float = 60.0) -> ModelCalls:
    return ModelCalls(handle, "the voice", TtsError, wait_s, loop)


async def pieces() -> AsyncGenerator[object]:
    yield "one"
    yield StillWorking()
    yield "two"


def test_what_it_gives_comes_in_order_without_the_signs_of_life(loop: CallLoop) -> None:
    handle = Handle(pieces)
    assert list(calls(handle, loop).items("speak", "text", 3)) == ["one", "two"]
    assert handle.asked == [("speak", "text", 3)]
    assert handle.ended.wait(60)


async def failing() -> AsyncGenerator[object]:
    yield "one"
    yield ModelFailed("no such voice")
    yield "never"


def test_why_it_failed_is_raised_behind_what_it_gave(loop: CallLoop) -> None:
    given = calls(Handle(failing), loop).items("speak")
    assert next(given) == "one"
    with pytest.raises(TtsError, match="no such voice"):
        next(given)


async def killed() -> AsyncGenerator[object]:
    yield "one"
    raise ConnectionResetError("the actor died")


def test_a_process_that_ends_is_told_with_what_to_do(loop: CallLoop) -> None:
    given = calls(Handle(killed), loop).items("speak")
    assert next(given) == "one"
    with pytest.raises(TtsError, match=r"the voice has ended.*ConnectionResetError.*once more"):
        next(given)


async def silent() -> AsyncGenerator[object]:
    await asyncio.Event().wait()
    yield "never"


def test_one_that_gives_no_sign_of_life_is_not_waited_for(loop: CallLoop) -> None:
    handle = Handle(silent)
    with pytest.raises(TtsError, match="no sign of life"):
        list(calls(handle, loop, wait_s=0.01).items("speak"))
    assert handle.ended.wait(60)


def test_another_patience_may_be_asked_for(loop: CallLoop) -> None:
    with pytest.raises(TtsError, match=r"0\.02 s"):
        list(calls(Handle(silent), loop).items("facts", wait_s=0.02))


def test_who_is_told_to_stop_ends_and_the_process_is_told(loop: CallLoop) -> None:
    handle, stopped, told = Handle(silent), threading.Event(), Listeners()
    stop = StopSignal(stopped.is_set, told)
    given: list[object] = []
    reader = threading.Thread(
        target=lambda: given.extend(calls(handle, loop).items("speak", stop=stop))
    )
    reader.start()
    stopped.set()
    told.tell()
    reader.join(60)
    assert not reader.is_alive()
    assert given == []


def test_a_plain_function_is_asked_too(loop: CallLoop) -> None:
    asked = iter([False, False, True])
    handle = Handle(silent)
    assert list(calls(handle, loop).items("speak", stop=lambda: next(asked))) == []
    assert handle.ended.wait(60)


def test_who_reads_no_further_gives_the_rest_up(loop: CallLoop) -> None:
    async def endless() -> AsyncGenerator[object]:
        while True:
            yield "again"
            await asyncio.sleep(0)

    handle = Handle(endless)
    given = calls(handle, loop).items("speak")
    assert next(given) == "again"
    given.close()
    assert handle.ended.wait(60)


def test_closing_gives_up_what_is_under_way_and_may_come_twice() -> None:
    asked = threading.Event()

    async def told() -> AsyncGenerator[object]:
        asked.set()
        await asyncio.Event().wait()
        yield "never"

    loop, handle = CallLoop(), Handle(told)
    given = calls(handle, loop).items("speak")
    failed: list[BaseException] = []

    def read() -> None:
        try:
            list(given)
        except TtsError as error:
            failed.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    assert asked.wait(60)
    loop.close()
    loop.close()
    reader.join(60)
    assert not reader.is_alive()
    assert handle.ended.is_set()
    assert len(failed) == 1
