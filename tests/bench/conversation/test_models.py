"""Real models on the simulated clock: what a call took really passes there."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from s2s.bench.conversation import models
from s2s.config.schema import Config
from s2s.core.clock import ManualClock
from s2s.llm.base import ChatMessage
from s2s.session.models import Models
from s2s.testing.simulator import EnergyVad, ModelCosts, ScriptedChat
from tests.support.slow import Slow


@pytest.fixture
def costed(monkeypatch: pytest.MonkeyPatch) -> tuple[Models, ManualClock]:
    watch = [100.0]
    slow, clock = Slow(watch), ManualClock()
    monkeypatch.setattr("time.perf_counter", lambda: watch[0])
    loaded = Models(EnergyVad(), slow, slow, slow, slow)  # type: ignore[arg-type]
    monkeypatch.setattr(models, "load_models", lambda *_: loaded, raising=False)
    scripted = replace(loaded, chat=ScriptedChat(clock, ModelCosts(), lambda _: "Long enough."))
    swap = models.real_models(Config(), SimpleNamespace())  # type: ignore[arg-type]
    return swap(scripted, clock), clock


def test_what_a_call_took_passes_on_the_simulated_clock(
    costed: tuple[Models, ManualClock],
) -> None:
    found, clock = costed
    assert found.transcriber.transcribe(np.zeros(9, np.float32)).text == "hello"
    assert clock.now() == pytest.approx(0.25)
    assert found.end_of_turn is not None
    found.end_of_turn.probability(np.zeros(9, np.float32))
    assert clock.now() == pytest.approx(0.5)


def test_each_chunk_costs_when_it_is_made(costed: tuple[Models, ManualClock]) -> None:
    found, clock = costed
    chunks = found.synthesizer.synthesize("Hello.")
    assert clock.now() == 0.0
    next(iter(chunks))
    assert clock.now() == pytest.approx(0.25)


def test_the_answer_is_the_scripts_after_the_models_first_token(
    costed: tuple[Models, ManualClock],
) -> None:
    found, clock = costed
    words = [part for part in found.chat.stream([ChatMessage("user", "hi")]) if part]
    assert "".join(map(str, words)).split() == ["Long", "enough."]
    assert clock.now() >= 0.25
