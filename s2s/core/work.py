"""How urgent a piece of work is, and what a stage asks before it computes. Knows no processor."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
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


class Unlimited:
    """A machine with cores for everything: nothing waits. For simulated time, and for tests."""

    def observe(self) -> None: ...

    def threads(self, work: Work, most: int) -> int:
        return most

    def working(self, work: Work, threads: int = 1) -> AbstractContextManager[None]:
        return nullcontext()

    def wait(self, work: Work, stop: Callable[[], bool] = lambda: False) -> None: ...


def each(
    compute: Compute, items: Iterable[T], work: Callable[[], Work], threads: int = 1
) -> Iterator[T]:
    """`items` as they are made: the work of making one is noted while it lasts, and waits for
    what is more urgent before it begins. Closing it closes `items`."""
    source = iter(items)
    try:
        while True:
            now = work()
            compute.wait(now)
            with compute.working(now, threads):
                try:
                    item = next(source)
                except StopIteration:
                    return
            yield item
    finally:
        if isinstance(source, Generator):
            source.close()
