"""How long a pause must last before the turn is answered: the witnesses joined into one duration.

Pure. Knows no model and no time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.core.setting import setting
from s2s.turns.fitted import (
    SOUND_ALONE,
    SOUND_WORDS,
    SOUND_WORDS_MODEL,
    WORDS_MODEL,
    EndWeights,
)

Curve = tuple[tuple[float, int], ...]
"""Points (log-odds that the turn is complete, milliseconds to wait), from doubtful to sure."""


@dataclass(frozen=True, slots=True)
class EndEvidence:
    """What the witnesses say of a pause, in log-odds of "complete"; None: there is no such one."""

    sound: float | None = None
    """The end-of-turn model, which hears the whole turn and the silence so far."""
    words: float | None = None
    """`s2s.turns.unfinished`: the last word, the mark behind it. None when there are no words."""
    model: float | None = None
    """The language model that reads along."""


@dataclass(frozen=True, slots=True)
class GraceConfig:
    """How long a pause must last before the turn is answered, from the end of speech."""

    curve: Curve = setting(
        (
            (-1.7, 2000),
            (-1.2, 1690),
            (-0.9, 1644),
            (-0.6, 1555),
            (-0.3, 1359),
            (0.0, 1026),
            (0.3, 665),
            (0.6, 431),
            (0.9, 325),
            (1.2, 284),
            (1.5, 269),
            (3.0, 260),
            (6.5, 140),
        ),
        'Log-odds of "complete" and the wait in ms; geometric in between. The default is fitted: '
        "docs/decisions/shape-of-the-wait.md.",
    )
    ask_again_ms: tuple[int, ...] = setting(
        (),
        "A pause that is not decided after so much silence is judged by its sound again.",
    )
    silence_ms: int = setting(
        700, "When nothing but words is known. Each unit of their log-odds halves it."
    )
    bias: float = setting(
        0.0, "Added to the log-odds: above 0 answers sooner, below 0 waits longer."
    )

    def __post_init__(self) -> None:
        odds = [point[0] for point in self.curve]
        waits = [point[1] for point in self.curve]
        if len(odds) < 2 or any(a >= b for a, b in itertools.pairwise(odds)):
            raise ValueError(f"curve needs at least 2 points with rising log-odds, got {odds}")
        if waits[-1] < 0 or any(a < b for a, b in itertools.pairwise(waits)):
            raise ValueError(f"waits of the curve must not rise or be negative, got {waits} ms")
        if not waits[-1] <= self.silence_ms <= waits[0]:
            raise ValueError(
                f"silence_ms must lie between the waits of the curve, {waits[-1]} and {waits[0]} "
                f"ms, got {self.silence_ms}"
            )
        asks = self.ask_again_ms
        if any(ms <= 0 for ms in asks) or any(a >= b for a, b in itertools.pairwise(asks)):
            raise ValueError(f"ask_again_ms must be positive and rise, got {asks}")

    @property
    def complete_ms(self) -> int:
        """When it is sure that the turn is over."""
        return self.curve[-1][1]

    @property
    def incomplete_ms(self) -> int:
        """When it is sure that it is not."""
        return self.curve[0][1]


EAGERNESS: dict[str, GraceConfig] = {
    "low": GraceConfig(bias=-1.0),
    "medium": GraceConfig(),
    "high": GraceConfig(bias=1.0),
}
"""Three manners, from the patient to the quick."""


def completeness(evidence: EndEvidence) -> float | None:
    """Log-odds that the turn is over, by all that is known; None when at most words are."""
    if evidence.sound is None and evidence.model is None:
        return None
    weights = _weights(evidence)
    return (
        weights.constant
        + weights.sound * (evidence.sound or 0.0)
        + weights.words * (evidence.words or 0.0)
        + weights.model * (evidence.model or 0.0)
    )


def _weights(evidence: EndEvidence) -> EndWeights:
    if evidence.words is None:
        return SOUND_ALONE
    if evidence.sound is None:
        return WORDS_MODEL
    return SOUND_WORDS if evidence.model is None else SOUND_WORDS_MODEL


def grace_ms(evidence: EndEvidence, config: GraceConfig) -> int:
    """Milliseconds to wait after the end of speech before the turn counts as complete.

    Returns:
        between `complete_ms` and `incomplete_ms`; continuous, and falls as evidence rises.
    """
    odds = completeness(evidence)
    if odds is None:
        wait = config.silence_ms * 2.0 ** -((evidence.words or 0.0) + config.bias)
        return round(min(max(wait, config.complete_ms), config.incomplete_ms))
    at = [point[0] for point in config.curve]
    waits = [math.log(max(point[1], 1)) for point in config.curve]
    return round(math.exp(float(np.interp(odds + config.bias, at, waits))))


@dataclass(frozen=True, slots=True)
class Judgement:
    """The sound of a turn, judged after so much silence."""

    silence_ms: int
    sound: float | None
    """Log-odds of "complete"; None without an end-of-turn model."""


def decided_ms(
    judgements: Sequence[Judgement],
    words: float | None,
    model: float | None,
    config: GraceConfig,
) -> int | None:
    """Silence after which the turn is over; None when the next judgement must tell.

    Each judgement holds from its place until the next one's, however late any of them was made: the
    same recording is decided at the same sample in every run.

    Args:
        judgements: of the first window of silence, then one for each of `ask_again_ms` so far.
        words, model: as in `EndEvidence`.
    """
    again = [*config.ask_again_ms, config.incomplete_ms]
    asks = judgements[0].sound is not None
    for number, judgement in enumerate(judgements):
        evidence = EndEvidence(judgement.sound, words, model)
        wait_ms = max(grace_ms(evidence, config), judgement.silence_ms)
        next_ms = again[number] if asks and number < len(config.ask_again_ms) else math.inf
        if wait_ms < next_ms:
            return wait_ms
    return None
