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


SOUND_WORDS_MODEL = EndWeights(0.74, 0.38, 1.13, 0.43)
SOUND_WORDS = EndWeights(-0.27, 0.45, 1.71)
SOUND_ALONE = EndWeights(-0.48, 0.50)
WORDS_MODEL = EndWeights(1.12, 0.0, 1.10, 0.51)
"""By the witnesses that there are: remote language models tell no probabilities, and speech without
words has none to judge."""
