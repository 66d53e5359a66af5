"""The folder of a record, and files that only grow: what was written stays, whatever happens then.

A thread of its own writes, so that no conversation waits for a disk. What cannot be written is
told once, and nothing more is written then; the conversation goes on.
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

from s2s.core.audio import PIPELINE_HZ

SOUND = "sound.wav"
EVENTS = "events.jsonl"
TIMELINES = "timelines.jsonl"
CALLS = "calls.jsonl"
ECHO = "echo.jsonl"
"""Of windows in which an echo was to be expected: by how much each is louder than that."""
SETTINGS = "settings.yaml"
SESSION = "session.json"
REPORT = "report.html"

CHANNELS = 2
HEADER_BYTES = 44
MOST_WAITING_BYTES = 16 << 20
"""About four minutes of sound that a disk may be behind."""
END_S = 10.0
"""How long the end of a record waits for the disk."""
_MOST_SIZE = 0xFFFF_FFFF
"""A WAV file's header can tell of no more: 18 hours."""


class RecordError(RuntimeError):
    """A record cannot be begun or read. The message says why, and what to do."""


def new_folder(parent: Path, kind: str, now: datetime | None = None) -> Path:
    """A new folder of one session in `parent`, readable by its owner alone.

    Args:
        parent: made where it is not there.
        kind: what talks, `talk` or `serve`: the end of the name.
        now: None: now. In UTC it begins the name, so that names sort by time.

    Raises:
        RecordError: it cannot be made.
    """
    at = (now or datetime.now(UTC)).astimezone(UTC)
    name = f"{at:%Y-%m-%d_%H-%M-%S}-{at.microsecond // 1000:03}_{kind}"
    try:
        if not parent.is_dir():
            parent.mkdir(mode=0o700, parents=True)
        for number in range(1, 1000):
            folder = parent / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise RecordError(
            f"{parent}: nothing can be recorded there ({error.strerror}). Name a folder that can "
            "be written to with --record."
        ) from error
    raise RecordError(f"{parent}: holds a thousand records of this moment. Name another folder.")


def wav_header(data_bytes: int) -> bytes:
    """The header of a WAV file of two channels of 16 bits at 16 kHz."""
    size = min(data_bytes, _MOST_SIZE - HEADER_BYTES)
    frame = CHANNELS * 2
    return (
        struct.pack("<4sI4s", b"RIFF", size + HEADER_BYTES - 8, b"WAVE")
        + struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, CHANNELS, PIPELINE_HZ, PIPELINE_HZ * frame,
                      frame, 16)
        + struct.pack("<4sI", b"data", size)
    )  # fmt: skip


class GrowingFiles:
    """Files of one folder, written by a thread of their own. `add` from any thread, never waits.

    Args:
        folder: is there.
        on_error: told once, in the thread, what could not be written; nothing is written from
            then on. Must not wait.
        at_end: called in the thread when all is written and closed.
    """

    def __init__(
        self,
        folder: Path,
        on_error: Callable[[str], None],
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder = folder
        self._on_error = on_error
        self._at_end = at_end
        self._queue: SimpleQueue[tuple[str, bytes] | Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._ended = False
        self._failed = False
        self._open: dict[str, BinaryIO] = {}
        self._thread = threading.Thread(target=self._run, name="record", daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        """All is written and closed."""
        return not self._thread.is_alive()

    @property
    def failed(self) -> bool:
        """Something could not be written."""
        return self._failed

    def add(self, name: str, data: bytes) -> None:
        """Have `data` written at the end of a file."""
        with self._lock:
            if self._ended or self._failed:
                return
            self._waiting += len(data)
            behind = self._waiting > MOST_WAITING_BYTES
            self._queue.put((name, data))
        if behind:
            self._fail("the disk does not keep up")

    def after(self, do: Callable[[], None]) -> None:
        """Call `do` in the thread when all is written that was added so far; it must not wait."""
        self._queue.put(do)

    def end(self) -> None:
        """Nothing more comes. Idempotent; does not wait."""
        with self._lock:
            if not self._ended:
                self._ended = True
                self._queue.put(None)

    def wait(self) -> None:
        """Wait until all is written, at most `END_S`: a disk may hang."""
        self._thread.join(END_S)

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            if callable(item):
                item()
                continue
            name, data = item
            with self._lock:
                self._waiting -= len(data)
            if not self._failed:
                try:
                    self._write(name, data)
                except OSError as error:
                    self._fail(error.strerror or str(error))
        for file in self._open.values():
            file.close()
        self._at_end()

    def _write(self, name: str, data: bytes) -> None:
        file = self._open.get(name)
        if file is None:
            descriptor = os.open(
                self._folder / name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o600
            )
            file = self._open[name] = os.fdopen(descriptor, "r+b", buffering=0)
            if name == SOUND:
                write_whole(file, wav_header(0))
        write_whole(file, data)
        if name == SOUND:  # so that any player reads what is there, whenever it ends
            end = file.tell()
            file.seek(0)
            write_whole(file, wav_header(end - HEADER_BYTES))
            file.seek(end)

    def _fail(self, why: str) -> None:
        with self._lock:
            if self._failed:
                return
            self._failed = True
        self._on_error(
            f"The record ends here: {self._folder} cannot be written ({why}). The conversation "
            "goes on."
        )


_BINARY: int = os.O_BINARY if os.name == "nt" else 0  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def write_whole(file: BinaryIO, data: bytes) -> None:
    """Write all of it; an unbuffered file may take less at once."""
    rest = memoryview(data)
    while len(rest):
        rest = rest[file.write(rest) :]
