"""What the stages of one session share: who is stale, what time it is, where measures go."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from s2s.core.cancel import CancelScope
from s2s.core.clock import Clock
from s2s.core.events import EventSink
from s2s.core.messages import ResponseId
from s2s.core.metrics import Metrics, Point
from s2s.core.speculation import SpeculativeTurns
from s2s.core.stop import StopSignal
from s2s.core.work import Compute, Unlimited

MAX_SILENCED = 256
"""Turns of which it is remembered: work on older ones has long ended."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """Safe from any thread."""

    scope: CancelScope
    turns: SpeculativeTurns
    clock: Clock
    metrics: Metrics
    events: EventSink
    compute: Compute = field(default_factory=Unlimited)
    """Who may compute what; told by each stage what it does."""
    _withdrawn: set[ResponseId] = field(default_factory=set)
    _silenced: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])

    def withdraw(self, response: ResponseId) -> None:
        """What was made of `response` is no answer: another one to the same turn follows."""
        self._withdrawn.add(response)
        self.turns.wake()

    def silence(self, turn_id: str) -> None:
        """Nothing is to be answered to this turn any more, in whatever revision."""
        self._silenced[turn_id] = None
        while len(self._silenced) > MAX_SILENCED:
            self._silenced.popitem(last=False)
        self.turns.wake()

    def is_silenced(self, turn_id: str) -> bool:
        """Whether it was silenced."""
        return turn_id in self._silenced

    def stop_when(self, asked: Callable[[], bool]) -> StopSignal:
        """`asked`, which depends on interruptions and re-openings alone, as a signal."""
        return StopSignal(asked, self.scope, self.turns)

    def is_stale(self, response: ResponseId) -> bool:
        """Whether `response` was interrupted, withdrawn or silenced, or its turn re-opened."""
        return (
            self.scope.is_stale(response.cancel_generation)
            or response in self._withdrawn
            or response.turn_id in self._silenced
            or not self.turns.is_latest(response.turn)
        )

    def mark(self, response: ResponseId, point: Point) -> None:
        """`response` has reached `point` now."""
        self.metrics.mark(response.turn, point, self.clock.now())
