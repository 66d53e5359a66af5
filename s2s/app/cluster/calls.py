"""Asking a model in a process of its own, from the threads of sessions. Knows no Ray: it is given
what asks.

One event loop in one thread takes what comes of all answers; each session's thread reads its own,
and gives it up at any moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from s2s.core.channel import Channel, Closed, Timeout
from s2s.core.clock import SystemClock
from s2s.core.errors import StageError
from s2s.core.stop import StopSignal

log = logging.getLogger(__name__)

AHEAD = 4096
"""Pieces of an answer that wait to be read: all of any answer."""
STOP_ASKED_EVERY_S = 0.05
"""For a `stop` that is a plain function; a `StopSignal` tells by itself."""


@dataclass(frozen=True, slots=True)
class StillWorking:
    """A sign of life of a model that has nothing to give yet."""


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The model said why it failed."""

    message: str


@dataclass(frozen=True, slots=True)
class _Wake:
    """`stop` may answer otherwise now."""


class ModelHandle(Protocol):
    """The processes of one model, whichever of them answers."""

    def ask(self, method: str, *given: object) -> AsyncGenerator[object]:
        """What `method` gives, piece by piece. Closing it gives the rest up.

        Raises:
            Exception: of the engine's, where the process has ended or cannot be reached.
        """
        ...


class CallLoop:
    """An event loop in a thread, begun with the first call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def running(self) -> asyncio.AbstractEventLoop:
        """The loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name="s2s-cluster-calls", daemon=True
                )
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """Give up what is under way. Idempotent."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(_wind_up())
        loop.close()


async def _wind_up() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class ModelCalls:
    """Asks one model.

    Args:
        handle: of its processes.
        what: "the voice", "the language model", "the recogniser".
        error: what is raised where it fails.
        wait_s: how long it may give no sign of life.
        loop: where answers come in.
    """

    def __init__(
        self,
        handle: ModelHandle,
        what: str,
        error: Callable[[str], StageError],
        wait_s: float,
        loop: CallLoop,
    ) -> None:
        self._handle = handle
        self._what = what
        self._error = error
        self._wait_s = wait_s
        self._loop = loop

    def items(
        self,
        method: str,
        *given: object,
        stop: Callable[[], bool] = lambda: False,
        wait_s: float | None = None,
    ) -> Generator[object]:
        """What `method` of the model gives; ends early when `stop` says so.

        Raises:
            StageError: it failed, its process has ended, or it gave no sign of life in time.
        """
        answer = _Answer(stop)
        loop = self._loop.running()
        exchange = self._exchange(answer, wait_s or self._wait_s, method, given)
        try:
            answer.start(loop, exchange)
            yield from answer.read()
        finally:
            answer.close(loop)

    async def _exchange(
        self, answer: _Answer, wait_s: float, method: str, given: tuple[object, ...]
    ) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with (
                asyncio.timeout(wait_s) as waits,
                aclosing(self._handle.ask(method, *given)) as items,
            ):
                async for item in items:
                    waits.reschedule(loop.time() + wait_s)
                    match item:
                        case StillWorking():
                            continue
                        case ModelFailed(message):
                            answer.end(self._error(message))
                            return
                        case _:
                            answer.give(item)
            answer.end(None)
        except asyncio.CancelledError:
            answer.end(self._error(f"{self._what} was given up: this process ends."))
            raise
        except TimeoutError:
            answer.end(
                self._error(
                    f"The process of {self._what} gave no sign of life for {wait_s:g} s: it is "
                    "being started, or all of its places are taken (cluster.*.replicas, at_once)."
                )
            )
        except Exception as error:  # of the engine's, of many kinds: told by its name
            log.warning("The process of %s did not answer", self._what, exc_info=True)
            answer.end(
                self._error(
                    f"The process of {self._what} has ended or cannot be reached "
                    f"({type(error).__name__}). It is started again: ask once more."
                )
            )


class _Answer:
    """One answer: put in by the loop, read by one thread."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop
        self._clock = SystemClock()
        self._arrived: Channel[object] = Channel(AHEAD, clock=self._clock, name="cluster")
        self._failure: StageError | None = None
        self._task: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] = lambda: None

    def start(
        self, loop: asyncio.AbstractEventLoop, exchange: Coroutine[object, object, None]
    ) -> None:
        """Run `exchange` in the loop."""
        if isinstance(self._stop, StopSignal):
            self._forget = self._stop.listen(lambda: self.give(_Wake()))

        def begin() -> None:
            if self._arrived.closed:
                exchange.close()
            else:
                self._task = asyncio.ensure_future(exchange)

        loop.call_soon_threadsafe(begin)

    def give(self, item: object) -> None:
        """Hand `item` to the reader."""
        self._arrived.offer(item)

    def end(self, failure: StageError | None) -> None:
        """Nothing more comes."""
        self._failure = failure
        self._arrived.close()

    def read(self) -> Iterator[object]:
        """What comes; ends early when `stop` says so."""
        signals = isinstance(self._stop, StopSignal)
        while not self._stop():
            asks_s = None if signals else self._clock.now() + STOP_ASKED_EVERY_S
            try:
                item = self._arrived.get(deadline_s=asks_s)
            except Timeout:
                continue
            except Closed:
                if self._failure is not None:
                    raise self._failure from None
                return
            if not isinstance(item, _Wake):
                yield item

    def close(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give up what is left of it."""
        self._forget()
        self._arrived.close(discard=True)

        def cancel() -> None:
            if self._task is not None:
                self._task.cancel()

        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(cancel)
