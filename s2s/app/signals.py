"""Ctrl-C, `kill` and a closed terminal: work ends in order, and what was recorded is saved.

Python runs signal handlers on the main thread alone, which is the one that waits here.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""What a terminal, a supervisor and Windows' console send to end a program."""


class Interrupted(KeyboardInterrupt):
    """The program was asked to end. `code` is its exit code, as shells expect it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


class Signals:
    """What the next signal does: it ends what runs in order, or interrupts the main thread."""

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None

    @contextmanager
    def ending(self, stop: Callable[[], None]) -> Generator[None, None, None]:
        """Inside, the first signal calls `stop`, which must return at once."""
        self._stop = stop
        try:
            yield
        finally:
            self._stop = None

    def arrived(self, number: int, frame: FrameType | None) -> None:
        """The handler. The second signal acts as if there were none."""
        del frame
        for each in _numbers():
            if signal.getsignal(each) == self.arrived:
                default = signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL
                signal.signal(each, default)
        if self._stop is None:
            raise Interrupted(number)
        self._stop()


@contextmanager
def handled() -> Generator[Signals, None, None]:
    """Inside, signals are handled as `Signals` says; nothing changes outside the main thread."""
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    before = {number: signal.getsignal(number) for number in _numbers()}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # nohup: the terminal may go
            signal.signal(number, signals.arrived)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def leave(code: int) -> int:
    """The last thing of the program; returns `code`, or ends the process where a thread of ours
    still runs: models in native code crash when the interpreter is taken down under them."""
    if any(thread.name.startswith("s2s-") for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                try:
                    stream.flush()
                except (OSError, ValueError):  # closed: it has no reader any more
                    continue
        os._exit(code)
    return code


def _numbers() -> list[signal.Signals]:
    return [number for number in signal.Signals if number.name in NAMES]
