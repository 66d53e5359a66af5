"""Which models a replay asks: the record where its settings are kept, others where not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest

from s2s.core.clock import ManualClock
from s2s.records.folder import SessionRecord
from s2s.records.replay.costed import CostedChat, CostedSynthesizer, CostedTranscriber
from s2s.records.replay.memory import CallMemory
from s2s.records.replay.models import ChangedStages, OtherModels, models_of
from s2s.records.replay.remembered import (
    RememberedChat,
    RememberedOwnVoice,
    RememberedStreamingTranscriber,
    RememberedTranscriber,
    RememberedTurnEnd,
    RememberedVoice,
)
from s2s.testing.simulator import EnergyVad, ModelCosts, ScriptedChat, ScriptedSynthesizer


def nobody() -> NoReturn:
    pytest.fail("another model is made")


def record(**about: object) -> SessionRecord:
    return SessionRecord(Path(), {"format": 1, "has_end_of_turn": True, **about}, [], [])


def others(**given: Any) -> OtherModels:
    made: dict[str, Any] = dict.fromkeys(
        ("end_of_turn", "own_voice", "transcriber", "synthesizer"), nobody
    )
    return OtherModels(EnergyVad(), **(made | given))


def test_what_is_kept_comes_from_the_record() -> None:
    clock, memory = ManualClock(), CallMemory([])
    about = record(reads_ahead=True, tts_rtf=0.5, has_own_voice=True)
    found = models_of(about, memory, others(), ChangedStages(), clock)
    assert isinstance(found.chat, RememberedChat)
    assert found.chat.reads_ahead
    assert isinstance(found.transcriber, RememberedTranscriber)
    assert isinstance(found.synthesizer, RememberedVoice)
    assert isinstance(found.end_of_turn, RememberedTurnEnd)
    assert isinstance(found.own_voice, RememberedOwnVoice)
    assert found.tts_rtf == 0.5
    assert found.wake_word is None
    streaming = models_of(record(stt_interval_ms=80), memory, others(), ChangedStages(), clock)
    assert isinstance(streaming.transcriber, RememberedStreamingTranscriber)
    assert streaming.transcriber.interval_ms == 80


def test_what_is_changed_is_asked_anew() -> None:
    clock, costs = ManualClock(), ModelCosts()
    voice = ScriptedSynthesizer(clock, costs)
    chat = ScriptedChat(clock, costs, str)
    other = others(
        end_of_turn=None,
        transcriber=lambda: RememberedTranscriber(CallMemory([]), clock, nobody),
        synthesizer=lambda: (voice, 0.75),
        chat=lambda: chat,
    )
    changed = ChangedStages.by(["stt.backend", "tts.options.model", "models.end_of_turn"])
    assert changed == ChangedStages(True, True, True)
    found = models_of(record(), CallMemory([]), other, changed, clock)
    assert isinstance(found.transcriber, CostedTranscriber)
    assert isinstance(found.synthesizer, CostedSynthesizer)
    assert isinstance(found.chat, CostedChat)
    assert (found.end_of_turn, found.own_voice, found.tts_rtf) == (None, None, 0.75)


def test_other_settings_change_no_model() -> None:
    assert ChangedStages.by(["session.language", "llm.backend"]) == ChangedStages()
