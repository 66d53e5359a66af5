"""The open turn, and how long its answer is held back at a pause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES
from s2s.core.events import NothingHeard
from s2s.core.messages import TurnId
from s2s.core.speculation import Verdict
from s2s.core.state import SessionState
from s2s.core.work import Work
from s2s.turns.base import TurnEnd
from s2s.turns.config import TurnsConfig
from s2s.turns.endpoint import grace_ms
from s2s.turns.segmenter import Segmenter


@dataclass(slots=True)
class OpenTurn:
    """The open turn, as far as it is known. Times are samples of the session."""

    id: TurnId
    text: str = ""
    """What the speaker seems to have said so far."""
    end_sample: int | None = None
    """Its provisional end, one past the last sample of speech, while the speaker pauses."""
    judged_sample: int = 0
    """One past the audio that was sent and judged at the last first window of silence."""
    complete_probability: float | None = None
    """What the end-of-turn model made of it last; None without one."""
    sent_samples: int = 0
    """Length of what was last sent to be written down."""
    read_samples: int = 0
    """Length of what its last transcript is of."""
    told_empty: bool = False
    """That this revision holds no words was told."""

    @property
    def all_read(self) -> bool:
        """The last transcript is of all that was sent."""
        return self.read_samples >= self.sent_samples


class TurnEnds:
    """Whether the open turn is over. For the thread of the turns stage."""

    def __init__(
        self,
        end_of_turn: TurnEnd | None,
        segmenter: Segmenter,
        state: SessionState,
        at_s: Callable[[int], float],
        config: TurnsConfig,
        language: str | None,
    ) -> None:
        """`at_s`: when a sample of the stream was captured, on the session's clock."""
        self._end_of_turn = end_of_turn
        self._segmenter = segmenter
        self._state = state
        self._at_s = at_s
        self._config = config
        self._language = language

    def judge(self, turn: OpenTurn) -> None:
        """Ask the end-of-turn model, at the first window of silence: the answer is there when the
        second one makes it a provisional end, and the language model has the machine to itself."""
        turn.complete_probability = None
        if self._end_of_turn is not None:
            heard = [self._segmenter.audio()]
            if self._segmenter.speaking:  # as it will be at its end: the model was tuned there
                heard.append(np.zeros(BLOCK_SAMPLES, dtype=np.float32))
            with self._state.compute.working(Work.HEARING):
                turn.complete_probability = self._end_of_turn.probability(np.concatenate(heard))

    def tell_if_empty(self, turn: OpenTurn) -> None:
        """Speech without words has no answer. It is told at the end of the grace, not before: who
        clears their throat often goes on."""
        if turn.told_empty or turn.text.strip() or not turn.all_read:
            return
        if self._state.turns.verdict(turn.id) is Verdict.LATEST:
            turn.told_empty = True
            self._state.events(NothingHeard(turn.id))

    def set_grace(self, turn: OpenTurn, *, provisional: bool) -> None:
        """Let the answer be given once the pause has been long enough; `provisional`: it may begin
        before, as it can be taken back."""
        if turn.end_sample is None:
            return
        end_s = self._at_s(turn.end_sample)
        from_s, until_s = (
            end_s + grace_ms(turn.complete_probability, turn.text, grace, self._language) / 1000
            for grace in self._config.graces(provisional=provisional)
        )
        self._state.turns.set_grace(turn.id, until_s, provisional_from_s=from_s)
