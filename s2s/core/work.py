"""How urgent a piece of work is, and what a stage asks before it computes. Knows no processor."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import IntEnum
from typing import Protocol, TypeVar

T = TypeVar("T")


class Work(IntEnum):
    """What is computed, the most urgent first."""

    HEARING = 0
    """Speech that is going on: voice activity, end of turn, words."""
    FIRST_SOUND = 1
    """Until the answer is heard: its first words, and the first sound of them."""
    SOUND_AHEAD = 2
    """The rest of what is being said."""
    TEXT_AHEAD = 3
    """Text that will be said later."""
    SOUND_LATER = 4
    """The rest of what is being said, while enough of it waits to be played."""


class Compute(Protocol):
    """Decides how many threads a piece of work gets, and what waits for what. Any thread."""

    def observe(self) -> None:
        """Note what other programs do; called a few times a second while anybody listens."""
        ...

    def threads(self, work: Work, most: int) -> int:
        """How many threads `work` gets now, 1 to ``most``."""
        ...

    def working(self, work: Work, threads: int = 1) -> AbstractContextManager[None]:
        """`work` computes meanwhile, in so many threads."""
        ...

    def wait(self, work: Work, stop: Callable[[], bool] = lambda: False) -> None:
        """Let more urgent work go first where no core is left beside it."""
        ...

    def computing(self) -> int:
        """Threads of this program that compute now, as far as they are noted."""
        ...


class Unlimited:
    """A machine with cores for everything: nothing waits. For simulated time, and for tests."""

    def observe(self) -> None: ...

    def threads(self, work: Work, most: int) -> int:
        return most

    def working(self, work: Work, threads: int = 1) -> AbstractContextManager[None]:
        return nullcontext()

    def wait(self, work: Work, stop: Callable[[], bool] = lambda: False) -> None: ...

    def computing(self) -> int:
        return 0


class Shift:
    """The work of one speaker or writer: noted while it computes, not while it waits. Any thread.

    Args:
        work: how urgent it is now.
        threads: what it computes in.
    """

    def __init__(self, compute: Compute, work: Callable[[], Work], threads: int = 1) -> None:
        self._compute = compute
        self._work = work
        self._threads = threads
        self._lock = threading.Lock()
        self._begun = False
        self._pauses = 0
        self._noted: AbstractContextManager[None] | None = None

    def begin(self) -> None:
        """From now on it computes; first it waits for what is more urgent."""
        now = self._work()
        self._compute.wait(now, lambda: self._work() < now)
        with self._lock:
            self._begun = True
            self._note()

    def end(self) -> None:
        """It computes no more."""
        with self._lock:
            self._begun = False
            self._note()

    @contextmanager
    def paused(self) -> Generator[None, None, None]:
        """Meanwhile it waits for something that others have to make."""
        with self._lock:
            self._pauses += 1
            self._note()
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                self._note()

    def _note(self) -> None:
        """Tell whether it computes; the lock is held."""
        computes = self._begun and not self._pauses
        if computes and self._noted is None:
            self._noted = self._compute.working(self._work(), self._threads)
            self._noted.__enter__()
        elif not computes and self._noted is not None:
            noted, self._noted = self._noted, None
            noted.__exit__(None, None, None)


def each(items: Iterable[T], shift: Shift) -> Iterator[T]:
    """`items` as they are made: the work of making one is noted while it lasts, and waits for
    what is more urgent before it begins. Closing it closes `items`."""
    source = iter(items)
    try:
        while True:
            shift.begin()
            try:
                item = next(source)
            except StopIteration:
                return
            finally:
                shift.end()
            yield item
    finally:
        if isinstance(source, Generator):
            source.close()
