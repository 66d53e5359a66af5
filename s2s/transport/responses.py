"""The responses that are open: what is told of each, and that each ends exactly once.

Of a response that began provisionally nothing is told until its turn is committed; then all of it,
in order. If it is taken back instead, there was no answer: no text, no history.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from s2s.core.events import (
    CancelReason,
    Event,
    ProvisionalStart,
    ResponseDone,
    ResponseStarted,
    ResponseStatus,
    TakenBack,
)
from s2s.core.messages import ResponseId, TokenUsage
from s2s.core.state import SessionState
from s2s.transport.playback import Played

PlayedSink = Callable[[ResponseId, str, bool], None]
"""(response, the text that was played, whether that is all of it): what the history is to hold."""


@dataclass(slots=True)
class OpenResponse:
    """A response that was opened and has not ended."""

    sound: bool = False
    error: str | None = None
    held: list[Event] | None = None
    """What is to be told of it once its turn is committed; None when that has been told."""
    finished: Played | None = None
    """All of it was played, while its turn was not committed."""
    usage: TokenUsage | None = None
    reason: CancelReason | None = None
    """Why it is being cancelled."""


class Responses:
    """The responses that were opened and not yet ended. Safe from any thread."""

    def __init__(self, state: SessionState, played: PlayedSink) -> None:
        self._lock = threading.RLock()  # held while events are told, so that they keep their order
        self._open: dict[ResponseId, OpenResponse] = {}
        self._state = state
        self._turns = state.turns
        self._events = state.events
        self._played = played

    def __len__(self) -> int:
        return len(self._open)

    def open(self, response: ResponseId) -> OpenResponse:
        """Open `response` unless it is."""
        with self._lock:
            known = self._open.get(response)
            if known is not None:
                return known
            opened = self._open[response] = OpenResponse()
            if self._turns.is_provisional(response.turn):
                opened.held = [ResponseStarted(response)]
                self._events(ProvisionalStart(response))
            else:
                self._events(ResponseStarted(response))
            return opened

    def get(self, response: ResponseId) -> OpenResponse | None:
        with self._lock:
            return self._open.get(response)

    def tell(self, response: ResponseId, event: Event) -> None:
        """Tell `event` of `response`, which is opened for it: now, or once it is certain."""
        with self._lock:
            opened = self.open(response)
            self._settle(response, opened)
            if opened.held is None:
                self._events(event)
            else:
                opened.held.append(event)

    def is_certain(self, response: ResponseId) -> bool:
        """Whether `response`, which is open, can no longer be taken back."""
        with self._lock:
            opened = self._open[response]
            self._settle(response, opened)
            return opened.held is None

    def settle(self) -> list[Played]:
        """Tell what has become certain; returns the reports of those that are played to the end."""
        with self._lock:
            for response, opened in list(self._open.items()):
                self._settle(response, opened)
            return [
                opened.finished
                for opened in self._open.values()
                if opened.held is None and opened.finished is not None
            ]

    def superseded(self) -> list[ResponseId]:
        """Those that answer revisions of turns that were re-opened since."""
        with self._lock:
            return [each for each in self._open if self._turns.is_superseded(each.turn)]

    def end(
        self, response: ResponseId, status: ResponseStatus, played: str, error: str | None = None
    ) -> bool:
        """End `response`; False when it was not open, or ended before."""
        with self._lock:
            opened = self._open.pop(response, None)
            if opened is None:
                return False
            self._settle(response, opened)
            if opened.held is not None:
                if self._turns.is_superseded(response.turn):
                    self._state.metrics.taken_back(response.turn, self._state.clock.now())
                self._events(TakenBack(response, played))
                return True
            if played:
                self._played(response, played, status == "completed")
            usage = opened.usage
            if status == "completed" and usage is not None and usage.limited:
                status = "incomplete"
            reason = opened.reason if status == "cancelled" else None
            self._events(ResponseDone(response, status, played, error, reason, usage))
            return True

    def all(self) -> list[ResponseId]:
        with self._lock:
            return list(self._open)

    def _settle(self, response: ResponseId, opened: OpenResponse) -> None:
        """Tell what was held of `response` if its turn is committed."""
        if opened.held is None or self._turns.is_superseded(response.turn):
            return
        if self._turns.is_committed(response.turn_id):
            self._state.mark(response, "committed")
            held, opened.held = opened.held, None
            for event in held:
                self._events(event)
