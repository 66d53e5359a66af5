"""A text that is still being written, told to a server as it comes.

A thread of its own reads it, since who decodes waits for the server. What was told is kept: where
an answer is discarded, the next one is told all of it again. Knows no socket.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from s2s.system.remote.errors import RemoteError
from s2s.tts.qwen3.interfaces import Stale
from s2s.tts.qwen3.text.stream import TextSource

Tell = Callable[[str, bool], None]
"""(more of the text, that was all of it) to the server. Raises RemoteError where it is lost, which
who reads the answer finds out as well."""


class Dictation:
    """One text, for one answer after another; ended by `close`."""

    def __init__(self, text: TextSource, stale: Stale) -> None:
        self._text = text
        self._stale = stale
        self._lock = threading.Lock()
        self._said = ""
        self._ended = False
        self._over = False
        self._tell: Tell | None = None
        self._thread = threading.Thread(target=self._read, name="qwen3-dictation", daemon=True)
        self._thread.start()

    @property
    def goes_on(self) -> bool:
        """More of the text may come: a server may have nothing to say meanwhile."""
        return not self._over

    def tell(self, tell: Tell) -> None:
        """From now on an answer is told the text, from its beginning. Raises RemoteError."""
        with self._lock:
            if self._said or self._ended:
                tell(self._said, self._ended)
            self._tell = tell

    def leave(self) -> None:
        """The answer is told no more: once this has returned, nothing is. Idempotent."""
        with self._lock:
            self._tell = None

    def finish(self) -> None:
        """Wait until the text has ended, or was closed."""
        self._thread.join()

    def close(self) -> None:
        """The text is read no further. Idempotent."""
        self.leave()
        self._text.close()
        self.finish()

    def _read(self) -> None:
        try:
            while piece := self._text.read(self._stale):
                self._add(piece, ended=False)
            if piece is not None:
                self._add("", ended=True)
        finally:
            self._over = True

    def _add(self, piece: str, *, ended: bool) -> None:
        with self._lock:
            self._said += piece
            self._ended = ended
            try:
                if self._tell is not None:
                    self._tell(piece, ended)
            except RemoteError:
                self._tell = None  # who reads the answer finds the line lost
