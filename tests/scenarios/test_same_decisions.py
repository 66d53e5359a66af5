"""The same recording is decided the same way, however long the models take and whoever is first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from s2s.core.clock import Clock
from s2s.core.events import SpeechStopped
from s2s.core.messages import TurnId
from s2s.core.speculation import SpeculativeTurns
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions
from s2s.session.models import Models
from s2s.stt.base import Transcription
from s2s.testing.simulator import (
    ModelCosts,
    Said,
    ScriptedChat,
    Simulation,
    tone,
    with_pauses,
)

SAID = [
    with_pauses(Said(tone(1.6), "could you tell me what time it is in london"), (0.4, 0.7)),
    with_pauses(Said(tone(1.2, 150), "turn the lights off and the heating on"), (0.5, 1.2)),
    Said(tone(0.9, 210), "what about mars"),
]


class _Jitter:
    """What each model takes, another time at every call."""

    def __init__(self, clock: Clock, seed: int) -> None:
        self._clock = clock
        self._random = np.random.default_rng(seed)

    def spend(self, most_s: float) -> None:
        self._clock.wait_until(self._clock.now() + self._random.uniform(0.0, most_s))


class _ReadsAlong(ScriptedChat):
    """Expects more behind "and" and behind everything short."""

    jitter: _Jitter | None = None

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        assert self.jitter is not None
        self.jitter.spend(0.03)
        words = messages[-1].content.split()
        return -4.0 if words[-1] == "and" else len(words) - 5.0


class _SlowTranscriber:
    def __init__(self, models: Models, jitter: _Jitter) -> None:
        inner = models.transcriber
        self._inner, self._jitter = inner, jitter
        self.warm, self.close = inner.warm, inner.close

    def transcribe(self, audio: np.ndarray, **options: object) -> Transcription:
        self._jitter.spend(0.08)
        return self._inner.transcribe(audio)


def decisions(seed: int, monkeypatch: pytest.MonkeyPatch) -> list[tuple[TurnId, float]]:
    """Every decision of a conversation: how long after the end of speech which turn is over."""
    set_: list[tuple[TurnId, float]] = []
    plain = SpeculativeTurns.set_grace

    def remember(
        self: SpeculativeTurns,
        turn: TurnId,
        until_s: float,
        *,
        provisional_from_s: float | None = None,
    ) -> None:
        set_.append((turn, until_s))
        plain(self, turn, until_s, provisional_from_s=provisional_from_s)

    def jittering(models: Models, clock: Clock) -> Models:
        jitter = _Jitter(clock, seed)
        chat = _ReadsAlong(clock, ModelCosts(), lambda question: "That is so. It is.")
        chat.jitter = jitter
        return replace(models, chat=chat, transcriber=_SlowTranscriber(models, jitter))

    with monkeypatch.context() as patched:
        patched.setattr(SpeculativeTurns, "set_grace", remember)
        costs = ModelCosts(stt_s=0.02, end_of_turn_s=0.001 * (seed % 30))
        run = Simulation(SAID, costs=costs, models=jittering).run()
    stopped = {e.turn: e.at_s for _, e in run.events if isinstance(e, SpeechStopped)}
    turns = dict.fromkeys(turn.turn_id for turn in stopped)
    name = {turn_id: f"turn {number}" for number, turn_id in enumerate(turns)}
    return [
        (TurnId(name[turn.turn_id], turn.turn_revision), round(until_s - stopped[turn], 4))
        for turn, until_s in set_
    ]


def test_two_runs_of_the_same_audio_differ_in_no_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    first = decisions(0, monkeypatch)
    assert len(first) >= len(SAID)
    assert len({wait_s for _, wait_s in first}) > 1, "some are surer than others"
    for seed in range(1, 12):
        assert decisions(seed, monkeypatch) == first
