"""Starting early where the end of a turn is undecided, and yielding when the voice comes back.

The answer may be heard after one grace, and is certain after another, longer one. Speech
in between is the person going on: the first window above the threshold silences the answer. If it
was nothing, the answer goes on at the very sample; a second time it waits, silent, until it is
certain, so that an echo or a noise does not chop it up (docs/decisions/provisional-starts.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from s2s.core.events import EventSink, Interruption
from s2s.core.messages import TurnId
from s2s.core.setting import setting
from s2s.core.speculation import SpeculativeTurns
from s2s.turns.base import Floor
from s2s.turns.grace import GraceConfig


@dataclass(frozen=True, slots=True)
class ProvisionalConfig:
    """Whether and when an answer begins before it is certain that the turn is over."""

    enabled: bool = setting(
        True,
        "Begin where the end of the turn is undecided, and take the start back if the person goes "
        "on. Only where the loudspeaker is the machine's own.",
    )
    lead: float = setting(
        0.6,
        "Log-odds by which the evidence may be weaker for a start than for the certain end: "
        "the wait is the one of so much stronger evidence. Chosen so that no more than one in "
        "twenty answers is taken back: docs/decisions/provisional-starts.md.",
    )

    def __post_init__(self) -> None:
        if self.lead < 0:
            raise ValueError(f"lead must not be negative, got {self.lead}")

    def of(self, grace: GraceConfig) -> GraceConfig:
        """The grace after which an answer may begin, if it is certain after `grace`."""
        return replace(grace, bias=grace.bias + self.lead) if self.enabled else grace


class TakingBack:
    """Silences answers that began provisionally, when the person may be going on.

    Not thread-safe: it belongs to the turns stage.
    """

    def __init__(self, floor: Floor, turns: SpeculativeTurns, events: EventSink) -> None:
        self._floor = floor
        self._turns = turns
        self._events = events
        self._turn: TurnId | None = None
        """The revision whose answer was silenced last."""
        self._false_starts = 0
        """How often that was for nothing."""
        self._silenced = False

    @property
    def silenced(self) -> bool:
        """An answer that began is silent, until it is known whether the person goes on."""
        return self._silenced

    def onset(self, turn: TurnId, sample: int) -> bool:
        """Something like speech begins, and `turn` is held back for it if it is not committed. True
        when an answer to it had begun: that is silent now."""
        if not self._turns.begin_reopen(turn.turn_id) or not self._turns.is_provisional(turn):
            return False
        if self._turn != turn:
            self._turn, self._false_starts = turn, 0
        if not self._silenced:
            self._silenced = True
            self._floor.pause()
            self._events(Interruption("silence", sample, "the person may be going on"))
        return True

    def false_start(self, turn: TurnId, sample: int) -> None:
        """It was nothing, and `turn` is as it was."""
        self._turns.cancel_reopen(turn.turn_id)
        if not self._silenced:
            return
        self._false_starts += 1
        if self._false_starts == 1:
            self._restore(sample, "it was nothing")

    def gone_on(self) -> None:
        """The person goes on, and the turn has its next revision: there was no answer."""
        if self._silenced:
            self._silenced = False
            self._floor.take_back()
            self._floor.restore()

    def over(self, sample: int) -> None:
        """The turn is over, or nothing is heard any more: its answer goes on."""
        if self._silenced:
            self._restore(sample, "the turn is over")

    def _restore(self, sample: int, reason: str) -> None:
        self._silenced = False
        self._floor.restore()
        self._events(Interruption("restore", sample, reason))
