"""The server of the load benchmark: models that take no time, and a process that ends."""

from __future__ import annotations

import io
import sys
import threading

import numpy as np
import pytest

from s2s.bench.load import served
from s2s.bench.load.served import ANSWER, ANSWER_S, VOICE_HZ, models_at_once
from s2s.tts.base import AudioChunk


def test_whatever_is_said_is_a_question_and_is_answered() -> None:
    models = models_at_once()
    heard = models.transcriber.transcribe(np.zeros(16_000, np.float32))
    assert heard.text.endswith("?")
    assert list(models.chat.stream([])) == [ANSWER]
    assert models.chat.ending([]) is None
    counts = [models.chat.count_tokens("x" * length) for length in (0, 3, 4, 400)]
    assert counts == [1, 1, 2, 101]


def test_the_voice_hums_as_long_as_it_says_and_tells_where_its_text_is() -> None:
    chunks = list(models_at_once().synthesizer.synthesize(ANSWER))
    assert all(isinstance(each, AudioChunk) for each in chunks)
    samples = sum(len(each.samples) for each in chunks)
    assert samples == pytest.approx(ANSWER_S * VOICE_HZ, rel=0.01)
    ends = [each.spoken_chars for each in chunks]
    assert ends == sorted(ends, key=lambda end: end or 0)
    assert ends[-1] == len(ANSWER)


def test_the_voice_stops_when_it_is_told_to() -> None:
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    assert len(list(models_at_once().synthesizer.synthesize(ANSWER, stop=stop))) == 2


class Console(io.StringIO):
    """Standard input and output at once: the input ends when something was put out."""

    def __init__(self) -> None:
        super().__init__()
        self._told = threading.Event()

    def flush(self) -> None:
        self._told.set()

    def read(self, size: int | None = -1, /) -> str:
        assert self._told.wait(30)
        return ""


def test_it_tells_its_port_and_serves_until_its_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console()
    monkeypatch.setattr(sys, "stdin", console)
    monkeypatch.setattr(sys, "stdout", console)
    assert served.main(["--sessions", "1"]) == 0
    assert 0 < int(console.getvalue()) < 65_536
