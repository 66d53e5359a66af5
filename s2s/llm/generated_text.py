"""What a model writes, as text: bytes become characters, and some texts end the answer. Pure."""

from __future__ import annotations

import codecs


class GeneratedText:
    """Bytes of tokens to text: whole characters, up to the first text that ends an answer."""

    def __init__(self, stop_at: tuple[str, ...]) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop_at = stop_at
        self._waiting = ""
        self.ended = False

    def push(self, piece: bytes) -> str:
        """What can be given out: nothing of what may yet become a text to stop at."""
        self._waiting += self._decoder.decode(piece)
        return self._ready()

    def flush(self) -> str:
        """The rest."""
        self._waiting += self._decoder.decode(b"", final=True)
        ready = self._ready()
        if self.ended:
            return ready
        ready, self._waiting = ready + self._waiting, ""
        return ready

    def _ready(self) -> str:
        found = [at for stop in self._stop_at if stop and (at := self._waiting.find(stop)) >= 0]
        if found:
            self.ended = True
            ready, self._waiting = self._waiting[: min(found)], ""
            return ready
        held = max((_overlap(self._waiting, stop) for stop in self._stop_at), default=0)
        cut = len(self._waiting) - held
        ready, self._waiting = self._waiting[:cut], self._waiting[cut:]
        return ready


def _overlap(text: str, stop: str) -> int:
    """Characters at the end of `text` that `stop` begins with."""
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(stop[:n])), 0)
