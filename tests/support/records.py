"""Records of simulated conversations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.config.schema import Config
from s2s.core.audio import from_int16, to_int16
from s2s.core.clock import Clock
from s2s.records.ends import SessionEnds, recorded_ends
from s2s.records.recorder import RecordPlan, SessionRecorder
from s2s.testing.simulator import Said, Simulation, tone, with_pauses
from s2s.transport.playback import Playback

SAID = (
    with_pauses(Said(tone(2.0), "what is the weather like in london"), (0.5, 0.4)),
    Said(tone(1.2, 140.0), "and what about tomorrow"),
    Said(tone(1.0, 160.0), "no wait tell me something else", None),
    Said(tone(1.5, 150.0), "thank you and good night"),
)
"""The third begins while the second is answered."""


def recorded(
    parent: Path,
    simulation: Simulation | None = None,
    told: Callable[[str], None] = pytest.fail,
    secrets: tuple[str, ...] = (),
) -> tuple[Path, Simulation]:
    """Hold a simulated conversation; the folder of its record, and the conversation."""
    simulation = simulation or talked_over()
    # What is recorded is heard in 16 bits, and scripted models know their words by the samples.
    simulation.said = [
        replace(said, audio=from_int16(to_int16(said.audio))) for said in simulation.said
    ]
    config = Config(session=simulation.config)
    kept: list[SessionRecorder] = []

    def between(ends: SessionEnds, playback: Playback, clock: Clock) -> SessionEnds:
        recording = RecordPlan(parent, "talk", config, secrets)
        kept.append(SessionRecorder(recording, ends.models, clock, told))
        simulation.metrics.tell(kept[0].on_timeline)
        return recorded_ends(ends, playback, kept[0])

    simulation.ends = between
    try:
        simulation.run()
    finally:
        for recorder in kept:
            recorder.close()
            recorder.wait()
    return kept[0].folder, simulation


def talked_over() -> Simulation:
    """A conversation with pauses within a sentence, and speech over an answer."""
    third = SAID[2]
    waits = np.zeros(2 * 16_000, dtype=np.float32)
    said = [*SAID[:2], replace(third, audio=np.concatenate([waits, third.audio])), SAID[3]]
    long = "This is the first sentence of a long answer. Here is a second one. And a third one."
    return Simulation(said, answer=lambda _: long)
