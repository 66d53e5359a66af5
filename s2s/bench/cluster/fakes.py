"""Models for processes of a cluster that take no time, and a voice that speaks as fast as it is
heard: it can be killed in the middle of a sentence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from s2s.bench.load.served import CHUNK_S, AtOnceVoice, models_at_once
from s2s.session.models import Models
from s2s.tts.base import AudioChunk, Capabilities

AT_ONCE = "s2s.bench.load.served:models_at_once"
"""Models that take no time, as processes are told them."""
WITH_SLOW_VOICE = "s2s.bench.cluster.fakes:models_with_slow_voice"


@dataclass(frozen=True)
class SlowVoice:
    """Takes as long for its sound as it lasts."""

    voice: AtOnceVoice = field(default_factory=AtOnceVoice)

    @property
    def capabilities(self) -> Capabilities:
        return self.voice.capabilities

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        for chunk in self.voice.synthesize(text, stop=stop):
            time.sleep(CHUNK_S)
            yield chunk

    def warm(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""


def models_with_slow_voice() -> Models:
    """Models that take no time, but for the voice."""
    return replace(models_at_once(), synthesizer=SlowVoice())
