"""A voice without a model, which remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from s2s.tts.base import AudioChunk, Capabilities


class ScriptedVoice:
    """Speaks a second of ones, and remembers what it was asked."""

    def __init__(
        self, *languages: str, rate_hz: int = 24_000, voices: tuple[str, ...] = ()
    ) -> None:
        self.capabilities = Capabilities(rate_hz, True, languages, voices)
        self.asked: list[tuple[str, str | None, str | None]] = []
        self.warmed = self.closed = 0

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        self.asked.append((text, voice, language))
        half = np.ones(self.capabilities.sample_rate_hz // 2, dtype=np.float32)
        for part in (1, 2):
            if stop():
                return
            yield AudioChunk(half, len(text) * part // 2)

    def warm(self) -> None:
        self.warmed += 1

    def close(self) -> None:
        self.closed += 1
