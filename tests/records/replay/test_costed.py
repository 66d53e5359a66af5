"""What a call of a real model took passes on the simulated clock."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from s2s.core.clock import ManualClock
from s2s.llm.base import ChatMessage
from s2s.records.replay.costed import (
    CostedChat,
    CostedSynthesizer,
    CostedTranscriber,
    CostedTurnEnd,
)
from s2s.stt.base import Transcription
from s2s.tts.base import AudioChunk, Capabilities


class Slow:
    """Any model whose calls take a quarter of a second."""

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


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    read = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: read[0])
    return read


def test_each_call_costs_what_it_took(watch: list[float]) -> None:
    clock, slow = ManualClock(), Slow(watch)
    sound = np.zeros(9, np.float32)
    assert CostedTranscriber(slow, clock).transcribe(sound).text == "hello"
    assert CostedTurnEnd(slow, clock).probability(sound) == 0.5
    assert clock.now() == pytest.approx(0.5)
    chunks = iter(CostedSynthesizer(slow, clock).synthesize("Hello."))
    assert clock.now() == pytest.approx(0.5)
    next(chunks)
    assert clock.now() == pytest.approx(0.75)


def test_each_word_costs_when_it_is_written(watch: list[float]) -> None:
    clock = ManualClock()
    chat = CostedChat(Slow(watch), clock)  # type: ignore[arg-type]
    times = [round(clock.now(), 6) for _ in chat.stream([ChatMessage("user", "hi")])]
    assert times == [0.25, 0.5]
    chat.warm([])
    assert chat.ending([]) is None
    assert clock.now() == pytest.approx(1.0)
    assert (chat.reads_ahead, chat.count_tokens("abc")) == (True, 3)
