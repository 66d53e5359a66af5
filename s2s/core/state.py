"""What the stages of one session share: who is stale, what time it is, where measures go."""

from __future__ import annotations

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

    def withdraw(self, response: ResponseId) -> None:
        """What was made of `response` is no answer: another one to the same turn follows."""
        self._withdrawn.add(response)
        self.turns.wake()

    def stop_when(self, asked: Callable[[], bool]) -> StopSignal:
        """`asked`, which depends on interruptions and re-openings alone, as a signal."""
        return StopSignal(asked, self.scope, self.turns)

    def is_stale(self, response: ResponseId) -> bool:
        """Whether `response` was interrupted or withdrawn, or its turn re-opened."""
        return (
            self.scope.is_stale(response.cancel_generation)
            or response in self._withdrawn
            or not self.turns.is_latest(response.turn)
        )

    def mark(self, response: ResponseId, point: Point) -> None:
        """`response` has reached `point` now."""
        self.metrics.mark(response.turn, point, self.clock.now())
