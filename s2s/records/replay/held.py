"""Holds a recorded conversation again, in simulated time: the person says what they said then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from s2s.config.schema import Config
from s2s.core.audio import BLOCK_SAMPLES, Block
from s2s.core.clock import Clock, ManualClock
from s2s.core.events import Event
from s2s.core.messages import AudioIn
from s2s.core.metrics import Metrics, Timeline
from s2s.records import files
from s2s.records.folder import SessionRecord
from s2s.records.lines import read_lines
from s2s.records.story import Story, told
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.session.session import Session
from s2s.transport.playback import Playback
from s2s.transport.wav import Line, Script, WavTransport

PLAYED_HZ = 24_000
"""As `talk` with a file plays."""


@dataclass
class HeldAgain:
    """What came of it."""

    config: Config
    events: list[tuple[float, Event]] = field(default_factory=list[tuple[float, Event]])
    timelines: list[Timeline] = field(default_factory=list[Timeline])
    assistant: Block = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    """float32 [samples] at `PLAYED_HZ`: a hum where the sound is not made anew."""

    @property
    def story(self) -> Story:
        return told(self.events, self.timelines)

    @property
    def duration_s(self) -> float:
        return max([len(self.assistant) / PLAYED_HZ, *(at_s for at_s, _ in self.events[-1:])])


def hold_again(
    record: SessionRecord, config: Config, models: Callable[[Clock], Models]
) -> HeldAgain:
    """Hold the conversation of `record` with other settings.

    Args:
        config: what it is held with. What opens and shuts the microphone is left out of it: the
            record holds what counted, and silence where it was shut.
        models: makes those of the session, which let the time pass that they take.
    """
    clock = ManualClock()
    again = HeldAgain(config)
    metrics = Metrics()
    metrics.tell(again.timelines.append)
    transport = RecordedRoom(record, clock)
    session = Session(
        models(clock),
        transport,
        heard_openly(config.session),
        events=lambda event: again.events.append((round(clock.now(), 6), event)),
        clock=clock,
        metrics=metrics,
    )
    session.run()
    again.assistant = transport.assistant()
    return again


def heard_openly(config: SessionConfig) -> SessionConfig:
    """The same with a microphone that is open all the time."""
    opened = replace(config.turns.input, push_to_talk=False, muted=False)
    return replace(config, turns=replace(config.turns, input=opened))


class RecordedRoom(WavTransport):
    """Where the conversation took place: what was said there, and how much of it was echo."""

    def __init__(self, record: SessionRecord, clock: Clock) -> None:
        script = Script([Line(record.person(), None)])
        super().__init__(script, Playback(clock, PLAYED_HZ), clock)
        self._can_take_back = record.about.get("kind") != "serve"
        self._over_echo_db = over_echo(record)

    @property
    def can_take_back(self) -> bool:
        """Not of a client of a server: it played what it was sent."""
        return self._can_take_back

    def _hear(self, window: Block, end_sample: int, at_s: float) -> AudioIn:
        heard = AudioIn(window, end_sample, at_s)
        over_db = self._over_echo_db.get(end_sample // BLOCK_SAMPLES - 1)
        return heard if over_db is None else replace(heard, over_echo_db=over_db)


def over_echo(record: SessionRecord) -> dict[int, float]:
    """By how much each window was louder than the echo that was to be expected in it."""
    found: dict[int, float] = {}
    for line in read_lines(record.folder / files.ECHO):
        window, over_db = line.get("window"), line.get("over_echo_db")
        if isinstance(window, int) and isinstance(over_db, int | float):
            found[window] = float(over_db)
    return found
