"""A client's settings of turn detection as those of the turns stage. Pure."""

from __future__ import annotations

from dataclasses import replace

from s2s.core.control import Hearing, SemanticVad, ServerVad
from s2s.turns.config import TurnsConfig
from s2s.turns.grace import EAGERNESS, GraceConfig
from s2s.turns.interruption import Rule
from s2s.turns.provisional import ProvisionalConfig
from s2s.turns.segmenter import SegmenterConfig

INTERRUPTS_MS = 300
"""Speech over an answer is decided by then: a client stops its sound only when it is told."""
LONG_MS = 256
"""Speech without words that is long enough by then (docs/decisions/nods-over-a-wire.md)."""
ONSET_MS = 96
"""Active speech that begins a turn where every onset counts: three windows, so that a click is
none."""
UNDECIDED_S = {"low": 8.0, "medium": 4.0, "high": 2.0}
"""The longest wait for somebody who may go on."""


def turns_config(hearing: Hearing, config: TurnsConfig) -> TurnsConfig:
    """How turns are found for a client; `config` says what it does not."""
    never = ProvisionalConfig(enabled=False)
    match hearing.detection:
        case ServerVad() as vad:
            return replace(
                config,
                segmenter=_segmenter(vad, config),
                grace=_fixed(vad),
                provisional=never,
                unanswered_reopen_ms=max(config.unanswered_reopen_ms, 2 * vad.silence_ms),
            )
        case SemanticVad(eagerness=eagerness):
            interruption = replace(
                config.interruption,
                decide_ms=INTERRUPTS_MS,
                rules=tuple(map(_sooner, config.interruption.rules)),
            )
            grace = _patient(EAGERNESS[eagerness], UNDECIDED_S[eagerness])
            patient_ms = round(1000 * UNDECIDED_S[eagerness]) + 1000
            return replace(
                config,
                grace=grace,
                interruption=interruption,
                provisional=never,
                unanswered_reopen_ms=max(config.unanswered_reopen_ms, patient_ms),
            )
        case None:
            return config


def _sooner(rule: Rule) -> Rule:
    """`rule` where the latest decision is sooner: what is decided by the length of the speech then
    asks for speech almost from the onset on."""
    if "deadline" not in rule.when or rule.min_active_ms <= LONG_MS:
        return rule
    return replace(rule, min_active_ms=LONG_MS)


def _segmenter(vad: ServerVad, config: TurnsConfig) -> SegmenterConfig:
    """Speech by its sound alone, from the first windows on."""
    own = config.segmenter
    threshold = min(max(vad.threshold, 0.05), 0.99)
    return replace(
        own,
        threshold=threshold,
        hysteresis=min(own.hysteresis, threshold / 2),
        pre_roll_ms=vad.prefix_ms,
        min_speech_ms=ONSET_MS,
        min_continue_ms=ONSET_MS,
        max_pause_ms=max(own.max_pause_ms, 2 * vad.silence_ms),
        max_turn_ms=max(own.max_turn_ms, 2 * (ONSET_MS + vad.prefix_ms)),
    )


def _fixed(vad: ServerVad) -> GraceConfig:
    """A turn is over after so much silence, whatever was said."""
    wait_ms = max(1, vad.silence_ms)
    return GraceConfig(curve=((-1.0, wait_ms), (1.0, wait_ms)), silence_ms=wait_ms)


def _patient(grace: GraceConfig, longest_s: float) -> GraceConfig:
    """`grace` with another wait where the person is sure to go on."""
    longest_ms = round(1000 * longest_s)
    points = [(odds, min(ms, longest_ms)) for odds, ms in grace.curve]
    first = (points[0][0] - 1.0, longest_ms)
    return replace(grace, curve=(first, *points), silence_ms=min(grace.silence_ms, longest_ms))
