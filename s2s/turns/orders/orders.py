"""What is said or pressed as an order and is no turn: the talk key, the wake word, the stop phrase.

It knows of the open turn only what concerns these; the handler does the rest.
"""

from __future__ import annotations

import math
from typing import Literal

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.events import StopHeard
from s2s.core.messages import Order, TalkKey, TurnId, WakeWord
from s2s.core.state import SessionState
from s2s.turns.base import Floor
from s2s.turns.config import TurnsConfig
from s2s.turns.orders.stop_phrase import WAIT_MS, only_stops
from s2s.turns.segmenter import Segmenter

MENTION_MS = 2000
"""A wake word that ends later than this after speech began is only mentioned."""


class Orders:
    """The orders of one session. For the thread of the turns stage."""

    def __init__(
        self,
        segmenter: Segmenter,
        floor: Floor,
        state: SessionState,
        config: TurnsConfig,
        language: str | None,
    ) -> None:
        self._segmenter = segmenter
        self._floor = floor
        self._state = state
        self._config = config
        self._language = language
        self.key_down = False
        """The talk key is down: no pause ends the turn."""
        self._let_go = False
        """It went up behind the open turn: that is over, whatever its pause is like."""
        self._stops = False
        """What was said last in the open turn is a stop phrase."""
        self._before = ""
        """What had been said in the open turn when it paused before."""

    def goes_on(self, text: str) -> None:
        """The open turn, in which `text` was said so far, is spoken again."""
        self._let_go = self._stops = False
        self._before = text

    def forget(self, turn: TurnId | None) -> None:
        """`turn` is no longer open. Nothing more will be said in it, key or not."""
        if self.key_down and turn is not None:
            self._state.turns.set_grace(turn, self._state.clock.now())
        self.goes_on("")

    def take(self, order: Order, turn: TurnId | None) -> list[Block] | Literal["end", "nothing"]:
        """What is to be done, while `turn` is open: forget it and hear blocks again, float32 [512]
        each, as the start of the next; end it; or nothing."""
        if isinstance(order, TalkKey):
            self.key_down = order.down
            return "nothing" if order.down else "end"
        if not self._woken(order, turn):
            return "nothing"
        return self._segmenter.rewind(order.end_sample)

    # --- the talk key --------------------------------------------------------------------------

    def let_go(self, turn: TurnId) -> None:
        """The key went up and `turn` has paused: it is over now."""
        self._let_go = True
        self._state.turns.set_grace(turn, self._state.clock.now())

    @property
    def hold(self) -> bool:
        """How long the open turn's answer is held back is decided here, not by its pause."""
        return self.key_down or self._let_go or self._stops

    # --- the stop phrase -----------------------------------------------------------------------

    def read(self, turn: TurnId, text: str) -> None:
        """`text` is what was said in the open turn. After a question a stop phrase is an answer
        like any other."""
        stops, asks = self._config.interruption.stops, self._floor.asks
        self._stops = not asks and only_stops(text, self._before, self._language, stops)
        if self._stops:
            self._state.turns.set_grace(turn, math.inf)

    def stopped(self, turn: TurnId, text: str, silent_ms: float) -> bool:
        """Whether `turn` was only a stop phrase, and is over: nothing is kept of it."""
        if not self._stops or silent_ms < WAIT_MS:
            return False
        self._floor.interrupt()
        self._floor.forget(turn)
        self._state.events(StopHeard(turn, text))
        return True

    # --- the wake word -------------------------------------------------------------------------

    def _woken(self, word: WakeWord, turn: TurnId | None) -> bool:
        """Whether what follows the word is a new turn. It interrupts whatever is going on; in the
        middle of a sentence it is only mentioned."""
        segmenter = self._segmenter
        if segmenter.open and _ms(word.end_sample - segmenter.onset_sample) > MENTION_MS:
            return False
        self._floor.interrupt()
        longest_ms = MENTION_MS + self._config.segmenter.pre_roll_ms
        if turn is not None and _ms(word.end_sample - segmenter.start_sample) <= longest_ms:
            self._floor.forget(turn)  # it is only the wake word so far
        return True


def _ms(samples: int) -> float:
    return 1000 * samples / PIPELINE_HZ
