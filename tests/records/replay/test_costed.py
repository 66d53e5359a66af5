"""What a call of a real model took passes on the simulated clock."""

from __future__ import annotations

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
from tests.support.slow import Slow


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
