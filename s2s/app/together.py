"""Several things made at once in threads, and none of them left behind when one fails.

A thread inside native code cannot be stopped. So what is still being made when another fails, or
when the person ends the program, is closed by its own thread once it is there, and the program does
not take the interpreter down under it (`s2s.app.signals.leave`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from s2s.app.talking.mailbox import Mailbox

log = logging.getLogger(__name__)

JOIN_S = 2.0
"""A failure waits this long for what else is being made, so that most of it is closed in order
(docs/decisions/crash-at-exit.md)."""


class Closable(Protocol):
    def close(self) -> None: ...


Made = TypeVar("Made", bound=Closable)


class Together:
    """Makes things in threads of their own. Used with `with`: on an error all are closed."""

    def __init__(self) -> None:
        self._finished: Mailbox[_Work] = Mailbox()
        self._all: list[_Work] = []

    def start(self, name: str, make: Callable[[], Made]) -> Making[Made]:
        """Begin to make something; its thread is called `s2s-load-NAME`."""
        making = Making(make, name, self._finished)
        self._all.append(making)
        making.thread.start()
        return making

    def wait(self) -> None:
        """Return when all is made.

        Raises:
            Whatever the first one that failed raised, as soon as it did.
        """
        for _ in self._all:
            error = self._finished.get().error
            if error is not None:
                raise error

    def __enter__(self) -> Together:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is not None:
                self._abandon()
        finally:
            self._finished.close()

    def _abandon(self) -> None:
        until_s = time.perf_counter() + JOIN_S
        for making in self._all:
            making.thread.join(max(0.0, until_s - time.perf_counter()))
        for making in self._all:
            making.abandon()


class _Work:
    """A thread that makes something, and how it ended."""

    thread: threading.Thread
    error: BaseException | None = None

    def abandon(self) -> None:
        """Close what was made, or will be."""
        raise NotImplementedError


class Making(_Work, Generic[Made]):
    """One thing that is being made."""

    def __init__(self, make: Callable[[], Made], name: str, finished: Mailbox[_Work]) -> None:
        self._make = make
        self._finished = finished
        self._lock = threading.Lock()
        self._made: Made | None = None
        self._abandoned = False
        self.thread = threading.Thread(target=self._run, name=f"s2s-load-{name}", daemon=True)

    @property
    def made(self) -> Made:
        """What was made; asked after `Together.wait`."""
        assert self._made is not None
        return self._made

    def abandon(self) -> None:
        with self._lock:
            self._abandoned = True
            made, self._made = self._made, None
        if made is not None:
            _close(made)

    def _run(self) -> None:
        try:
            made = self._make()
        except BaseException as error:  # noqa: BLE001  (`wait` raises it)
            self.error = error
        else:
            with self._lock:
                self._made = made
                late = self._abandoned
            if late:
                _close(made)
        self._finished.put(self)


def _close(made: Closable) -> None:
    try:
        made.close()
    except Exception as error:  # another failure is being told
        log.debug("closing after a failure: %s", error, exc_info=error)
