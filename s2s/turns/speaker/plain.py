"""Whether speech is meant for us, without knowing any voice: how loud it is, and how plain.

Two kinds of evidence. Level: of the turn against the running noise floor, and against the speech
that was answered lately (a television in the next room is softer than who sits here). Words: how
sure the recogniser was of what it wrote, a single word more than several, and what recognisers are
known to write on noise least of all. Pure.
"""

from __future__ import annotations

import math
import re
from collections import deque
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.audio.gain import speech_level_db
from s2s.turns.speaker.config import LevelConfig

FLOOR_S = 4.0
"""The noise floor is the middle of so many seconds without speech: short enough for a fan that is
switched on."""
SILENCE_DB = -100.0
SHORT_S, SHORT_DB = 0.15, 6.0
"""The loudest part of speech that is short, and how much less it counts: of longer speech and of
steady noise it then says nothing."""
USUAL_WEIGHT = 0.3
"""Of a new turn in the level that is usual: after three turns the first counts for a third."""

HALLUCINATED = frozenset(
    (
        "you", "thank you", "thanks", "thanks for watching", "thank you for watching", "bye",
        "bye bye", "okay", "oh", "so", "the", "hmm", "mm", "uh", "um", "ah", "i", "a", "and",
        "yeah",
    )
)  # fmt: skip
"""What recognisers write on coughs, music and murmurs (seen with Moonshine and Whisper)."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Plainness:
    """What is known of a turn."""

    level_db: float
    """Of its speech, dB of full scale."""
    floor_db: float
    """Of the noise."""
    usual_db: float | None
    """Of what was answered lately; None before the first answer."""
    text: str
    confidence: float | None
    """Mean log probability of the text; None when the recogniser does not tell."""


class SpeechLevels:
    """The running noise floor and the usual level of one stream. Not thread-safe."""

    def __init__(self) -> None:
        blocks = int(FLOOR_S * PIPELINE_HZ / BLOCK_SAMPLES)
        self._recent: deque[float] = deque(maxlen=blocks)
        self.usual_db: float | None = None

    def hear(self, block: Block, *, speech: bool) -> None:
        """The next window, float32 [512], and whether it is speech, which is no noise."""
        if not speech:
            self._recent.append(max(SILENCE_DB, _level_db(block)))

    @property
    def floor_db(self) -> float:
        """Of the noise, dB of full scale; `SILENCE_DB` as long as too little was heard to tell."""
        if 4 * len(self._recent) < (self._recent.maxlen or 0):
            return SILENCE_DB
        return float(np.median(self._recent))

    def answered(self, level_db: float) -> None:
        """A turn of this level was answered."""
        usual = level_db if self.usual_db is None else self.usual_db
        self.usual_db = usual + USUAL_WEIGHT * (level_db - usual)


def _level_db(block: Block) -> float:
    """Level around the mean. As `rms_db`, in a third of its time: it is asked of every window."""
    wide = block.astype(np.float64)
    wide -= wide.sum() / len(wide)
    power = float(np.dot(wide, wide)) / len(wide)
    return 10.0 * math.log10(power) if power > 0.0 else SILENCE_DB


def turn_level_db(audio: Block) -> float:
    """Level of the speech in a turn, float32 [samples] at 16 kHz. A turn has silence around its
    speech: of a "yes", which is shorter than what the level is usually taken from, that would be
    the level."""
    short_db = speech_level_db(audio, PIPELINE_HZ, SHORT_S) - SHORT_DB
    return max(SILENCE_DB, speech_level_db(audio, PIPELINE_HZ), short_db)


def why_not_answered(turn: Plainness, config: LevelConfig) -> str | None:
    """Why a turn is not answered; None when it is."""
    if SILENCE_DB < turn.floor_db > turn.level_db - config.above_noise_db:
        return "hardly louder than the noise"
    if turn.usual_db is not None and turn.level_db < turn.usual_db - config.below_usual_db:
        return "much softer than you"
    words = _WORD.findall(turn.text.casefold())
    if not words or turn.confidence is None:
        return None
    doubted = len(words) == 1 or " ".join(words) in HALLUCINATED
    if turn.confidence < (config.word_confidence if doubted else config.confidence):
        return (
            "a word that was hardly understood" if doubted else "words that were hardly understood"
        )
    return None
