"""A voice whose calls are noted speaks as it does alone, and every call is noted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from s2s.core.clock import ManualClock
from s2s.records import keys
from s2s.records.call_notes import CallNotes
from s2s.records.noted_voice import NotedVoice, noted_voice
from s2s.testing.simulator import ModelCosts, ScriptedSynthesizer
from s2s.tts.base import AudioChunk, Synthesizer
from s2s.tts.speak import pace_of, takes_words

COSTS = ModelCosts()


class Fed(ScriptedSynthesizer):
    """Takes words while they are written, and knows its pace."""

    def pace(self, language: str | None = None) -> float:
        return 0.625

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        return True

    def synthesize_written(
        self, text: Any, *, voice: str | None = None, language: str | None = None, **_: object
    ) -> Iterator[AudioChunk]:
        while (part := text.read(lambda: False)) != "":
            yield AudioChunk(np.full(100, 0.5, dtype=np.float32), len(part or ""))
        text.close()


class Written:
    """Text in three parts."""

    quiet = False

    def __init__(self) -> None:
        self.parts = ["One ", "two ", "three.", ""]

    def read(self, stale: Callable[[], bool]) -> str | None:
        return self.parts.pop(0)

    def close(self) -> None: ...


def made(voice: Synthesizer) -> tuple[NotedVoice, list[Mapping[str, Any]]]:
    noted: list[Mapping[str, Any]] = []
    return noted_voice(voice, 0.5, CallNotes(ManualClock(), 0.0, noted.append)), noted


def test_speech_is_noted_without_its_sound() -> None:
    voice, noted = made(ScriptedSynthesizer(ManualClock(), COSTS))
    assert not takes_words(voice, 0.5)
    assert pace_of(voice, 0.5) == 0.5
    sound = np.concatenate([chunk.samples for chunk in voice.synthesize("Good evening.")])
    (note,) = noted
    assert (note["call"], note["text"], note["whole"]) == ("speak", "Good evening.", True)
    assert note["key"] == keys.of_text("Good evening.")
    assert sum(count for _, count, _, _ in note["chunks"]) == len(sound)
    assert max(peak for *_, peak in note["chunks"]) == pytest.approx(0.1, abs=0.01)


def test_speech_that_is_fed_word_by_word_is_noted_with_all_its_words() -> None:
    voice, noted = made(Fed(ManualClock(), COSTS))
    assert takes_words(voice, 0.5)
    assert pace_of(voice, 0.5) == 0.625
    written: Any = voice
    chunks = list(written.synthesize_written(Written()))
    assert len(chunks) == 3
    assert noted[0]["text"] == "One two three."
    plain = made(ScriptedSynthesizer(ManualClock(), COSTS))[0]
    with pytest.raises(TypeError, match="ScriptedSynthesizer"):
        plain.synthesize_written(Written())
