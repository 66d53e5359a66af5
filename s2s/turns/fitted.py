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


SOUND_WORDS_MODEL = EndWeights(0.78, 0.35, 1.13, 0.47)
SOUND_WORDS = EndWeights(-0.28, 0.43, 1.75)
SOUND_ALONE = EndWeights(-0.48, 0.48)
WORDS_MODEL = EndWeights(1.17, 0.0, 1.12, 0.56)
"""By the witnesses that there are: remote language models tell no probabilities, and speech without
words has none to judge."""
