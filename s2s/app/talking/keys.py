"""Keys while one talks: mute, talk, be quiet, take up what was dropped, type a line.

Keys are read one by one where the standard input is a terminal of ours, in the foreground; where it
is not, nothing is read and nothing changes. Ctrl-C stays what it is.
"""

from __future__ import annotations

import codecs
import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Protocol

from s2s.app.talking.held_key import HeldKey
from s2s.app.talking.typed_line import ESCAPE, TypedLine

log = logging.getLogger(__name__)

TALK, MUTE, TAKE_UP, STOP = " ", "m", "a", "\n"
STEERING = MUTE + TAKE_UP
"""Letters that begin no line."""
_CHUNK = 64
_LOOK_S = 0.02
"""How often Windows' console, which cannot be waited for, is looked at."""


class Conversation(Protocol):
    """What keys do to a conversation. From any thread."""

    @property
    def muted(self) -> bool:
        """Nothing is heard."""
        ...

    def mute(self, on: bool) -> None:
        """Hear nothing from now on, or hear again."""
        ...

    def talk(self, down: bool) -> None:
        """The talk key went down or up."""
        ...

    def take_up_dropped(self) -> None:
        """Answer what was dropped last."""
        ...

    def interrupt(self) -> None:
        """Silence the assistant at once."""
        ...

    def type_line(self, text: str) -> None:
        """The person typed `text` instead of saying it."""
        ...


class Keys:
    """What each key does. For the thread that reads them.

    Args:
        conversation: what is steered.
        push_to_talk: Space talks.
        line: what takes the characters of a line; None: nothing is typed.
    """

    def __init__(
        self, conversation: Conversation, *, push_to_talk: bool, line: TypedLine | None = None
    ) -> None:
        self._conversation = conversation
        self._push_to_talk = push_to_talk
        self._line = line
        self._talk = HeldKey()

    without = "speak when you like; Ctrl-C ends"
    """The same where no keys are read."""

    @staticmethod
    def help(*, push_to_talk: bool) -> str:
        """For the line that says what one can do."""
        talk = "Space talks, and Space again sends it" if push_to_talk else "speak when you like"
        return f"{talk}, or type and press Enter; Enter stops it, m mutes, Ctrl-C ends"

    typing = "type, and press Enter; Enter alone stops it, Ctrl-D ends"
    """The same where nothing but typing is done."""

    @property
    def deadline_s(self) -> float | None:
        """When `expired` is to be called, on `time.monotonic`."""
        return self._talk.deadline_s

    def pressed(self, text: str, now_s: float) -> None:
        """What was read at once: keys; or what one key sends that is none of ours (an arrow)."""
        line = self._line
        special = text.startswith(("\x00", "\xe0"))
        if line is not None and not (sys.platform == "win32" and len(text) == 2):
            special = False  # elsewhere à is a letter
        if text.startswith("\x1b") or special:
            if line is not None and line.is_open and text == ESCAPE:
                line.takes(text)
            return
        for typed in text.replace("\r", "\n"):
            if line is not None and line.takes(typed):
                continue
            key = typed.lower()
            if key == TALK and self._push_to_talk:
                self._talk.pressed(now_s)
                self._conversation.talk(self._talk.down)
            elif key == MUTE:
                self._conversation.mute(not self._conversation.muted)
            elif key == TAKE_UP:
                self._conversation.take_up_dropped()
            elif key == STOP:
                self._conversation.interrupt()

    def expired(self, now_s: float) -> None:
        """Nothing was pressed until now."""
        self._talk.expired(now_s)
        if self._push_to_talk:
            self._conversation.talk(self._talk.down)


@contextmanager
def keys_read(keys: Keys) -> Generator[None, None, None]:
    """Inside, keys are read from the standard input, if it is a terminal in the foreground."""
    if not usable():
        yield
        return
    with _windows(keys) if sys.platform == "win32" else _unix(keys, sys.stdin.fileno()):
        yield


def usable() -> bool:
    """Keys can be read here."""
    if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
        return False
    if sys.platform == "win32":
        return True
    try:  # in the background, a program that touches its terminal is stopped
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False


@contextmanager
def _reader(read: Callable[[], None], wake: Callable[[], None]) -> Generator[None, None, None]:
    """Run `read` in a thread until the end, when `wake` makes it return."""
    thread = threading.Thread(target=read, name="s2s-keys", daemon=True)
    thread.start()
    try:
        yield
    finally:
        wake()
        thread.join()


if sys.platform != "win32":
    import termios
    import tty

    @contextmanager
    def _unix(keys: Keys, terminal: int) -> Generator[None, None, None]:
        wakes, wake = os.pipe()

        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

        def read() -> None:
            while True:
                deadline_s = keys.deadline_s
                wait_s = None if deadline_s is None else max(0.0, deadline_s - time.monotonic())
                ready, _, _ = select.select([terminal, wakes], [], [], wait_s)
                if wakes in ready:
                    return
                if not ready:
                    keys.expired(time.monotonic())
                    continue
                given = _read(terminal)
                if not given:
                    return
                if text := decoder.decode(given):  # a character may come in two halves
                    keys.pressed(text, time.monotonic())

        try:
            with _one_by_one(terminal), _reader(read, lambda: os.close(wake)):
                yield
        finally:
            os.close(wakes)

    def _read(terminal: int) -> bytes:
        """What was pressed; nothing when the terminal is gone."""
        try:
            return os.read(terminal, _CHUNK)
        except OSError:
            return b""

    @contextmanager
    def _one_by_one(terminal: int) -> Generator[None, None, None]:
        """Have keys come as they are pressed and show nothing of them; also after Ctrl-Z and fg."""
        before = termios.tcgetattr(terminal)

        def begin(*_: object) -> None:
            with suppress(termios.error):
                tty.setcbreak(terminal, termios.TCSADRAIN)

        begin()
        main = threading.current_thread() is threading.main_thread()
        continued = signal.signal(signal.SIGCONT, begin) if main else None
        try:
            yield
        finally:
            if main:
                signal.signal(signal.SIGCONT, continued or signal.SIG_DFL)
            with suppress(termios.error):
                termios.tcsetattr(terminal, termios.TCSADRAIN, before)

else:
    import msvcrt

    @contextmanager
    def _windows(keys: Keys) -> Generator[None, None, None]:
        ends = threading.Event()

        def read() -> None:
            while not ends.wait(_LOOK_S):
                while msvcrt.kbhit():
                    text = msvcrt.getwch()
                    if text in ("\x00", "\xe0"):  # a function key: its second half follows
                        text += msvcrt.getwch()
                    if text == "\x03":
                        signal.raise_signal(signal.SIGINT)
                    keys.pressed(text, time.monotonic())
                deadline_s = keys.deadline_s
                if deadline_s is not None and time.monotonic() >= deadline_s:
                    keys.expired(time.monotonic())

        with _reader(read, ends.set):
            yield
