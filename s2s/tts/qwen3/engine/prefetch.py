"""An iterator that works ahead of its reader, in a thread of its own, up to a limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from s2s.core.channel import Channel, Closed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Failed:
    """The source's error, in its place among the items."""

    error: Exception


def ahead(
    source: Iterator[T],
    limit: int,
    name: str,
    takes_back: Callable[[T, T], bool] | None = None,
) -> Generator[T, None, None]:
    """The items of ``source``, of which at most ``limit`` (two if that is one) are made and unread:
    all but one wait in a channel, and a full one makes the producer wait with the last in hand.

    An error of the source is raised here, after what came before it. Closing this iterator ends
    the thread after the item it is at. ``name`` is the thread's. ``takes_back(item, unread)``: a
    new item, before it is queued, removes those for which this is true.
    """
    # One less than the limit: the producer has another in hand (docs/decisions/
    # qwen3-utterance-stream.md).
    made: Channel[T | _Failed] = Channel(max(1, limit - 1), name=name)
    producer = _Producer(source, made, takes_back)
    thread = threading.Thread(target=producer.run, name=name, daemon=True)
    thread.start()
    try:
        for item in made:
            if isinstance(item, _Failed):
                raise item.error
            yield item
    finally:
        made.close(discard=True)
        thread.join()


@dataclass(frozen=True, slots=True)
class _Producer(Generic[T]):
    source: Iterator[T]
    made: Channel[T | _Failed]
    takes_back: Callable[[T, T], bool] | None

    def run(self) -> None:
        """Make items until the end, or until the reader has closed."""
        try:
            for item in self.source:
                self._withdraw(item)
                self.made.put(item)
        except Closed:
            pass
        except Exception as error:  # noqa: BLE001
            self._fail(error)  # raised again where the items are read
        finally:
            self.made.close()

    def _withdraw(self, item: T) -> None:
        takes_back = self.takes_back
        if takes_back is not None:
            self.made.discard(
                lambda unread: not isinstance(unread, _Failed) and takes_back(item, unread)
            )

    def _fail(self, error: Exception) -> None:
        with suppress(Closed):  # then there is no reader left to tell
            self.made.put(_Failed(error))
