"""An iterator that works ahead of who reads it, in a thread of its own, up to a limit."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Shared(Generic[T]):
    """What producer and reader share; everything under ``changed``."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    made: deque[T] = field(default_factory=deque)
    ended: bool = False
    closing: bool = False
    error: Exception | None = None


def ahead(source: Iterator[T], limit: int, name: str) -> Generator[T, None, None]:
    """The items of ``source``, of which at most ``limit`` wait unread; a full queue is what makes
    the producer wait, and nothing polls.

    An error of the source is raised here, after what came before it. Closing this iterator ends
    the thread after the item it is at. ``name`` is the thread's.
    """
    shared: _Shared[T] = _Shared()
    thread = threading.Thread(target=_produce, args=(source, limit, shared), name=name, daemon=True)
    thread.start()
    try:
        while True:
            with shared.changed:
                shared.changed.wait_for(lambda: shared.made or shared.ended)
                if not shared.made:
                    break
                item = shared.made.popleft()
                shared.changed.notify_all()
            yield item
    finally:
        with shared.changed:
            shared.closing = True
            shared.changed.notify_all()
        thread.join()
    if shared.error is not None:
        raise shared.error


def _produce(source: Iterator[T], limit: int, shared: _Shared[T]) -> None:
    try:
        for item in source:
            with shared.changed:
                shared.made.append(item)
                shared.changed.notify_all()
                shared.changed.wait_for(lambda: shared.closing or len(shared.made) < limit)
                if shared.closing:
                    break
    except Exception as error:  # noqa: BLE001
        shared.error = error  # raised again where the items are read
    finally:
        with shared.changed:
            shared.ended = True
            shared.changed.notify_all()
