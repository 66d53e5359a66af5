"""Who is listened to: the evidence about a session's speech, in the order in which it comes.

The turns stage gives each window here first and tells its segmenter what comes back. A turn that
is not meant for us is told by a reason; what was dropped is kept, so that it can be taken up after
all. Not thread-safe.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, empty
from s2s.core.events import Notice, SpeechDropped
from s2s.core.messages import PartialTranscript, TurnId
from s2s.core.state import SessionState
from s2s.turns.base import Floor, OwnVoice
from s2s.turns.speaker.config import SpeakerConfig
from s2s.turns.speaker.gate import OthersSpeech, PassedWindow, VoiceGate, Whose
from s2s.turns.speaker.plain import Plainness, SpeechLevels, turn_level_db, why_not_answered
from s2s.turns.speaker.voiced import is_unvoiced

NOT_YOUR_VOICE = "not your voice"
"""Why speech is dropped where another voice is enrolled."""

KEPT_S = 30
"""Of dropped speech that can be taken up."""


class Attention:
    """Who is listened to in one session."""

    def __init__(
        self, own: OwnVoice | None, config: SpeakerConfig, state: SessionState, floor: Floor
    ) -> None:
        """`own`: the enrolled voice; None: everybody is listened to."""
        self._config = config
        self._state = state
        self._floor = floor
        self._gate = VoiceGate(own, config.gate) if own is not None else None
        self._levels = SpeechLevels()
        self._dropped: deque[Block] = deque(maxlen=KEPT_S * PIPELINE_HZ // BLOCK_SAMPLES)
        self._going_on = False
        """Who was dropped last still speaks."""
        self._latest = empty()
        self._active = self._voiced = self._silent = 0

    @property
    def evidence(self) -> tuple[Whose | None, float]:
        """Whose the speech is that is heard now (None where no voice is enrolled), and the share of
        it that is voiced (1 until there is any)."""
        whose = None if self._gate is None else self._gate.whose
        return whose, self._voiced / self._active if self._active else 1.0

    def at_end(self) -> tuple[Whose | None, float]:
        """The same, now that the speech seems to be over."""
        self.settle()
        return self.evidence

    def hear(
        self, block: Block, probability: float, *, held_back: bool, of_room: bool = True
    ) -> list[PassedWindow | OthersSpeech]:
        """What the segmenter is to be told on hearing the next window; see `VoiceGate.hear`. A
        window that is not `of_room` tells nothing about the noise: one that nobody listens to may
        be speech, and one with the assistant's own echo was turned down."""
        speech = probability >= self._config.gate.speech_probability
        if of_room:
            self._levels.hear(block, speech=speech)
        self._count_voiced(block, speech=speech)
        if self._gate is None:
            return [PassedWindow(block, probability)]
        told = self._gate.hear(block, probability, held_back=held_back)
        self._going_on = self._going_on and self._gate.whose == "other"
        if self._going_on:
            self._dropped.append(block)
        self._latest = block
        return told

    def settle(self) -> bool:
        """The speech seems to be over: whether it turns out now that it was another's."""
        if self._gate is None or self._gate.whose != "unknown":
            return False
        return self._gate.settle() == "other"

    def why_not(self, audio: Block, words: PartialTranscript) -> str | None:
        """Why the turn `audio`, float32 [samples], with all its `words`, is not meant for us by its
        level and its words; None when it may be."""
        if self._config.mode == "off":
            return None
        levels = self._levels
        plain = Plainness(
            turn_level_db(audio),
            levels.floor_db,
            levels.usual_db,
            words.text,
            words.confidence,
        )
        return why_not_answered(plain, self._config.level)

    def answered(self, audio: Block) -> None:
        """The turn `audio` was answered: such is the level of who is listened to."""
        self._levels.answered(turn_level_db(audio))

    def drop(self, turn: TurnId, text: str, reason: str, audio: Block, *, goes_on: bool) -> None:
        """Nothing answers `turn`, which is told with its `text`; keep its `audio`, and when its
        speaker `goes_on` what they say from this window on."""
        self._state.turns.forget(turn.turn_id)
        self._state.events(SpeechDropped(turn, text, reason))
        self._dropped.clear()
        for start in range(0, len(audio), BLOCK_SAMPLES):
            self._dropped.append(audio[start : start + BLOCK_SAMPLES])
        self._going_on = goes_on
        if goes_on:
            self._dropped.append(self._latest)

    def take_up(self) -> Block:
        """What was dropped last, float32 [samples]; empty when there is nothing. Once."""
        if not self._dropped:
            self._state.events(Notice("Nothing was left unanswered."))
        else:
            self._floor.interrupt()
        taken = np.concatenate([empty(), *self._dropped])
        self._dropped.clear()
        return taken

    def reset(self) -> None:
        """Listen afresh."""
        if self._gate is not None:
            self._gate.reset()
        self._active = self._voiced = self._silent = 0

    def _count_voiced(self, block: Block, *, speech: bool) -> None:
        if speech:
            self._active += 1
            self._voiced += not is_unvoiced(block)
            self._silent = 0
            return
        self._silent += 1
        if 1000 * self._silent * BLOCK_SAMPLES >= self._config.gate.forget_ms * PIPELINE_HZ:
            self._active = self._voiced = 0
