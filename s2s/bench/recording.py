"""Figures of a conversation, from its recording alone: what a listener with a stopwatch would say.

The strictest way to measure: from the last sound of the person to the first audible sound of the
answer. Nothing of the program's own opinion of when speech ended enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block

AUDIBLE = 0.01
"""A sample above 1 % of full scale is heard."""


@dataclass(frozen=True, slots=True)
class SpokenSpan:
    """Something the person said, in samples of the session at 16 kHz."""

    start_sample: int
    end_sample: int
    """One past its last sound."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What happened after it."""

    spoken: SpokenSpan
    latency_ms: float | None
    """From its last sound to the first audible sound of the answer; None when none came."""
    cut_off: bool
    """The answer began before the person was done."""


def speech_end(audio: Block) -> int:
    """One past the last audible sample of `audio`, float32 [samples]."""
    loud = np.flatnonzero(np.abs(audio) > AUDIBLE)
    return int(loud[-1]) + 1 if len(loud) else 0


def answers(said: Sequence[SpokenSpan], assistant: Block, rate_hz: int) -> list[Answer]:
    """When each thing that was said was answered.

    Args:
        said: in order.
        assistant: what was played, float32 [samples at rate_hz], from the same start.
        rate_hz: rate of `assistant`.
    """
    loud = np.flatnonzero(np.abs(assistant) > AUDIBLE) * (PIPELINE_HZ / rate_hz)
    found: list[Answer] = []
    for index, spoken in enumerate(said):
        until = said[index + 1].start_sample if index + 1 < len(said) else np.inf
        during = loud[(loud >= spoken.start_sample) & (loud < spoken.end_sample)]
        after = loud[(loud >= spoken.end_sample) & (loud < until)]
        latency_ms = None
        if len(after):
            latency_ms = 1000 * (float(after[0]) - spoken.end_sample) / PIPELINE_HZ
        found.append(Answer(spoken, latency_ms, bool(len(during))))
    return found
