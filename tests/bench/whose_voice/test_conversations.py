"""Conversations with an enrolled voice: what a look at it costs, and words where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.whose_voice import conversations
from s2s.bench.whose_voice.conversations import TimedVoice, Understanding
from s2s.core.audio import Block
from s2s.stt.base import Transcription


def test_looks_at_a_voice_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1.0, 1.5])
    monkeypatch.setattr(conversations.time, "process_time", lambda: next(times))

    class Known:
        def likeness(self, audio: np.ndarray) -> float:
            return 0.75

    voice = TimedVoice(Known())  # type: ignore[arg-type]
    assert voice.likeness(np.ones(16_000, np.float32)) == 0.75
    assert voice.costs_s == [0.5]


@pytest.mark.parametrize("heard", ["hello", ""])
def test_speech_of_any_language_has_words(heard: str) -> None:
    class Ear:
        def transcribe(self, audio: Block, **_: object) -> Transcription:
            return Transcription(heard)

        def warm(self) -> None: ...

        def close(self) -> None: ...

    said = Understanding(Ear()).transcribe(np.ones(16_000, np.float32))
    assert said.text == (heard or "Words of another language.")
