"""Holds one conversation with the real models that hear, and says what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from s2s.bench.whose_voice.cases import VoiceCase
from s2s.bench.whose_voice.material import SpokenLine
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.clock import Clock
from s2s.core.events import Heard, Interruption, ResponseStarted, SpeechDropped
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.stt.base import Transcriber, Transcription
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.testing.simulator import Said, Simulation
from s2s.turns.base import OwnVoice
from s2s.turns.config import TurnsConfig
from s2s.turns.endpoint import EndOfTurn
from s2s.turns.speaker.embedder import SpeakerEmbedder
from s2s.turns.speaker.own_voice import KnownVoice, enrol
from s2s.turns.vad import SileroVad

SPEAKER = "speaker-campplus"
REPLY = "This is the first sentence of a long reply. " * 5
INTO_REPLY_S = 1.6
SPEECH_KINDS = ("own", "other", "after")
"""In which somebody says something, whatever a recogniser makes of their language."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of it."""

    kind: str
    person: str
    other: str
    snr_db: int
    enrolled: bool
    right: bool
    told: str
    """Why it was dropped, or what was heard."""
    delay_ms: float | None = None
    """From the end of the person's speech to the answer; or to the stop of the reply."""
    counted: bool = True
    """False where no words were found in music, or no reply had begun: nothing was decided."""
    cost_ms: float = 0.0
    """Processor time of all looks at the voice."""


@dataclass(slots=True)
class TimedVoice:
    """An enrolled voice that notes what each look takes of a processor."""

    inner: OwnVoice
    costs_s: list[float] = field(default_factory=list)

    def likeness(self, audio: Block) -> float:
        started_s = time.process_time()
        likeness = self.inner.likeness(audio)
        self.costs_s.append(time.process_time() - started_s)
        return likeness


class Understanding:
    """The recogniser of a person who knows every language: where the real one finds no words in
    speech that is not its own language, there are some. Without it nothing would be decided there,
    by a recogniser that says nothing of whose voice it is."""

    def __init__(self, inner: Transcriber) -> None:
        self._inner = inner
        self.warm, self.close = inner.warm, inner.close

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        heard = self._inner.transcribe(audio, language=language, earlier=earlier, stop=stop)
        return heard if heard.text else Transcription("Words of another language.")


class RealEars:
    """The real models, shared by all conversations."""

    def __init__(self, store: Store) -> None:
        self.vad = SileroVad(store.path("silero-vad"))
        self.recogniser = Moonshine(MoonshineConfig(), Resources(store, 1))
        self.end_of_turn = EndOfTurn(store.path("smart-turn-v3"))
        self.embedder = SpeakerEmbedder(store.path(SPEAKER), SPEAKER)

    def known(self, said: Sequence[SpokenLine]) -> KnownVoice:
        """The voice enrolled from `said`."""
        joined = np.concatenate([each.audio for each in said])
        return KnownVoice(self.embedder, enrol(joined, self.vad.open(), self.embedder).vectors)

    def models(self, scripted: Models, own: OwnVoice | None, *, understands: bool) -> Models:
        """`understands`: every language; else what the recogniser finds no words in is nothing."""
        return replace(
            scripted,
            vad=self.vad,
            transcriber=Understanding(self.recogniser) if understands else self.recogniser,
            end_of_turn=self.end_of_turn,
            own_voice=own,
        )


def hold(case: VoiceCase, listener: RealEars, own: KnownVoice | None, before: Block) -> CaseResult:
    """Hold the conversation; `before` is what the person says first, in quiet."""
    timed = None if own is None else TimedVoice(own)
    wait = np.zeros(int(INTO_REPLY_S * PIPELINE_HZ), dtype=np.float32)
    first = Said(before, "before")
    last = Said(case.audio, "case")
    if case.over_reply:
        last = Said(np.concatenate([wait, case.audio]), "case", None)

    def models(scripted: Models, clock: Clock) -> Models:
        del clock
        return listener.models(scripted, timed, understands=case.kind in SPEECH_KINDS)

    answers = iter((REPLY if case.over_reply else "Yes.",))
    said = [first, last] if own is None or case.over_reply else [last]
    turns = TurnsConfig(partial_interval_ms=500 if case.over_reply else 0)
    simulation = Simulation(
        said,
        answer=lambda _: next(answers, "Fine."),
        models=models,
        config=SessionConfig(turns=turns),
    ).run()
    start_s = simulation.script.said[-1][0] / PIPELINE_HZ
    row = _over(case, simulation, start_s) if case.over_reply else _plain(case, simulation, start_s)
    cost_ms = 0.0 if timed is None else 1000 * sum(timed.costs_s)
    return replace(row, enrolled=own is not None, cost_ms=cost_ms)


def _plain(case: VoiceCase, simulation: Simulation, start_s: float) -> CaseResult:
    events = [(at_s, event) for at_s, event in simulation.events if at_s >= start_s]
    began = [at_s for at_s, event in events if isinstance(event, ResponseStarted)]
    dropped = [event.reason for _, event in events if isinstance(event, SpeechDropped)]
    heard = [event.text for _, event in events if isinstance(event, Heard) and event.final]
    right = bool(began) == case.wanted
    counted = bool(began or dropped)
    delay_ms = None
    if began and case.wanted:
        spoken_s = case.first_part_s or len(case.audio) / PIPELINE_HZ
        delay_ms = 1000 * (began[0] - start_s - spoken_s)
    told = heard[0] if began and heard else "; ".join(dict.fromkeys(dropped))
    return CaseResult(
        case.kind, case.person, case.other, case.snr_db, False, right, told, delay_ms, counted
    )


def _over(case: VoiceCase, simulation: Simulation, start_s: float) -> CaseResult:
    onset_s = start_s + INTO_REPLY_S
    counted = any(
        isinstance(event, ResponseStarted) and at_s < onset_s for at_s, event in simulation.events
    )
    stops = [
        (at_s, event)
        for at_s, event in simulation.events
        if at_s >= onset_s
        and isinstance(event, Interruption)
        and event.action in ("pause", "cancel")
    ]
    delay_ms = 1000 * (stops[0][0] - onset_s) if stops else None
    told = stops[0][1].reason if stops else ""
    right = bool(stops) == case.wanted
    return CaseResult(
        case.kind, case.person, case.other, case.snr_db, False, right, told, delay_ms, counted
    )
