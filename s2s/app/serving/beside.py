"""Servers that run in threads of their own, beside what the command itself does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol

log = logging.getLogger(__name__)


class Runnable(Protocol):
    """A server that runs until it is stopped."""

    ready: Callable[[], None]
    """Called once it listens."""

    def run(self) -> None: ...

    def stop(self) -> None: ...


@contextmanager
def running(server: Runnable, name: str) -> Generator[None]:
    """Inside, `server` runs in a thread of that name; it listens before the inside begins.

    Raises:
        Exception: it could not begin. One that fails later is logged.
    """
    listens, known = threading.Event(), threading.Event()
    failed: list[Exception] = []

    def ready() -> None:
        listens.set()
        known.set()

    def run() -> None:
        try:
            server.run()
        except Exception as error:
            if listens.is_set():
                log.exception("%s has ended", name)
            else:
                failed.append(error)
        known.set()

    server.ready = ready

    thread = threading.Thread(target=run, name=name)
    thread.start()
    try:
        known.wait()
        if failed:
            raise failed[0]
        yield
    finally:
        server.stop()
        thread.join()
