"""A model of every kind whose calls take time, for what counts that time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from s2s.stt.base import Transcription
from s2s.tts.base import AudioChunk, Capabilities


class Slow:
    """Any model whose calls take a quarter of a second of `watch`, which holds seconds."""

    capabilities = Capabilities(24_000, True, ("en",))
    reads_ahead = True

    def __init__(self, watch: list[float]) -> None:
        self._watch = watch

    def take(self) -> None:
        self._watch[0] += 0.25

    def transcribe(self, *_: object, **__: object) -> Transcription:
        self.take()
        return Transcription("hello")

    def probability(self, _: object) -> float:
        self.take()
        return 0.5

    def synthesize(self, *_: object, **__: object) -> Iterator[AudioChunk]:
        for _chunk in range(2):
            self.take()
            yield AudioChunk(np.zeros(10, np.float32))

    def stream(self, *_: object, **__: object) -> Iterator[str]:
        for word in ("The ", "end."):
            self.take()
            yield word

    def ending(self, *_: object, **__: object) -> float | None:
        self.take()
        return None

    def count_tokens(self, text: str) -> int:
        return len(text)

    def warm(self, *_: object, **__: object) -> None:
        self.take()

    def close(self) -> None: ...
