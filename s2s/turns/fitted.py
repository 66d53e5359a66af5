"""How much each witness of the end of a turn proves: coefficients, fitted on recorded turns.

Made by `python -m s2s.bench.turn_ends.fit`, which also prints what they are worth; why so, and on
what recordings, is in docs/decisions/end-of-turn-evidence.md. Do not change one by hand.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EndWeights:
    """Log-odds that a turn is over: the sum of what is known, each witness with its weight."""

    constant: float
    sound: float = 0.0
    words: float = 0.0
    model: float = 0.0


SOUND_WORDS_MODEL = EndWeights(1.21, 0.39, 1.25, 0.57)
SOUND_WORDS = EndWeights(-0.19, 0.45, 1.93)
SOUND_ALONE = EndWeights(-0.59, 0.52)
WORDS_MODEL = EndWeights(1.45, 0.0, 1.45, 0.55)
"""By the witnesses that there are: remote language models tell no probabilities, and speech without
words has none to judge."""
