"""The models of a replay: those of the record where its settings are kept, real ones where not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from s2s.core.clock import Clock
from s2s.llm.base import ChatModel
from s2s.records.folder import SessionRecord
from s2s.records.replay.costed import (
    CostedChat,
    CostedSynthesizer,
    CostedTranscriber,
    CostedTurnEnd,
)
from s2s.records.replay.memory import CallMemory
from s2s.records.replay.remembered import (
    Made,
    RememberedChat,
    RememberedOwnVoice,
    RememberedStreamingTranscriber,
    RememberedTranscriber,
    RememberedTurnEnd,
    RememberedVoice,
)
from s2s.session.models import Models
from s2s.stt.base import Transcriber
from s2s.tts.base import Synthesizer
from s2s.turns.base import OwnVoice, TurnEnd, VadModel


@dataclass(frozen=True, slots=True)
class OtherModels:
    """Who is asked what nobody was asked then. Each is made when it is needed."""

    vad: VadModel
    """Always: a record holds nothing of its voice activity."""
    end_of_turn: Made[TurnEnd] | None
    """None: there is to be none."""
    own_voice: Made[OwnVoice]
    transcriber: Made[Transcriber]
    synthesizer: Made[tuple[Synthesizer, float]]
    """And the seconds of work that it takes for a second of speech."""
    chat: Made[ChatModel] | None = None
    """None: answers come from the record."""


@dataclass(frozen=True, slots=True)
class ChangedStages:
    """Which models are others than then; they are asked everything anew."""

    end_of_turn: bool = False
    transcriber: bool = False
    synthesizer: bool = False

    @classmethod
    def by(cls, keys: Iterable[str]) -> ChangedStages:
        """By the settings that differ."""
        sections = {key.partition(".")[0] for key in keys}
        return cls("models.end_of_turn" in set(keys), "stt" in sections, "tts" in sections)


def models_of(
    record: SessionRecord,
    memory: CallMemory,
    others: OtherModels,
    changed: ChangedStages,
    clock: Clock,
) -> Models:
    """What a session uses that holds `record` again, from now on by `clock`."""
    about, begin_s = record.about, clock.now()
    rtf = about.get("tts_rtf")
    tts_rtf = float(rtf) if isinstance(rtf, int | float) else 0.0
    voice: Synthesizer = RememberedVoice(memory, clock, about)
    if changed.synthesizer:
        made, tts_rtf = others.synthesizer()
        voice = CostedSynthesizer(made, clock)
    reads_ahead = about.get("reads_ahead") is True
    return Models(
        others.vad,
        _end_of_turn(record, memory, others, changed, clock),
        _transcriber(record, memory, others, changed, clock),
        RememberedChat(memory, clock, begin_s, reads_ahead=reads_ahead)
        if others.chat is None
        else CostedChat(others.chat(), clock),
        voice,
        tts_rtf=tts_rtf,
        own_voice=RememberedOwnVoice(memory, clock, others.own_voice)
        if about.get("has_own_voice") is True
        else None,
    )


def _end_of_turn(
    record: SessionRecord,
    memory: CallMemory,
    others: OtherModels,
    changed: ChangedStages,
    clock: Clock,
) -> TurnEnd | None:
    if others.end_of_turn is None:
        return None
    if changed.end_of_turn or record.about.get("has_end_of_turn") is not True:
        return CostedTurnEnd(others.end_of_turn(), clock)
    return RememberedTurnEnd(memory, clock, others.end_of_turn)


def _transcriber(
    record: SessionRecord,
    memory: CallMemory,
    others: OtherModels,
    changed: ChangedStages,
    clock: Clock,
) -> Transcriber:
    if changed.transcriber:
        return CostedTranscriber(others.transcriber(), clock)
    interval_ms = record.about.get("stt_interval_ms")
    if isinstance(interval_ms, int):
        return RememberedStreamingTranscriber(memory, clock, others.transcriber, interval_ms)
    return RememberedTranscriber(memory, clock, others.transcriber)
