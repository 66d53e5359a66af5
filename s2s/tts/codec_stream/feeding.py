"""A text on its way to who speaks it: fed in pieces while it is written. Knows no socket."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from s2s.tts.base import WrittenText


class TextFeed:
    """A text in pieces, from any thread to one reader. Nothing polls.

    Who stops the speech by its ``stale`` closes the feed as well: a reader that waits for text
    asks ``stale`` only when something happens here.

    Args:
        waits: entered while the reader waits for text, and computes nothing.
    """

    def __init__(self, waits: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self.waits = waits
        self._changed = threading.Condition()
        self._unread: list[str] = []
        self._ended = False
        self._closed = False

    def push(self, text: str) -> None:
        """More of the text; it may be cut anywhere. Once the feed is closed it goes nowhere.

        Raises ValueError after ``end``.
        """
        with self._changed:
            if self._ended:
                raise ValueError(f"the text has ended: {text!r} comes too late")
            if text and not self._closed:
                self._unread.append(text)
                self._changed.notify_all()

    def end(self) -> None:
        """That was all of it. Idempotent."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def close(self) -> None:
        """Reader or writer is gone: a text without an end is spoken no further.
        Idempotent."""
        with self._changed:
            self._closed = True
            self._unread.clear()
            self._changed.notify_all()

    @property
    def quiet(self) -> bool:
        """Who reads now has to wait."""
        return not (self._unread or self._ended or self._closed)

    def read(self, stale: Callable[[], bool]) -> str | None:
        """What was written since the last call, waiting for it; empty once the text has ended.
        None when it is stale or closed."""
        with self._changed:
            while not (self._closed or stale()):
                if self._unread or self._ended:
                    text = "".join(self._unread)
                    self._unread.clear()
                    return text
                with self.waits():
                    self._changed.wait()
        return None


def all_of(text: WrittenText, stale: Callable[[], bool]) -> str | None:
    """The whole text, once it has been written; None when it is stale or closed before."""
    parts: list[str] = []
    while piece := text.read(stale):
        parts.append(piece)
    return None if piece is None else "".join(parts)
