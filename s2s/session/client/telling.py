"""What a client is told of the person's turns: once each, in order, whoever finds out first.

A turn may be re-opened before it is committed, and its words may come before or after that; the
client sees one beginning, one end, one commit and one transcript. Told under the lock: whoever
answers a turn tells its commit first. Safe from any thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from s2s.core.events import (
    Event,
    EventSink,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.core.items import user_item_id
from s2s.core.messages import TurnId

MAX_TURNS = 64
"""Turns of which something is still to be told."""


@dataclass(slots=True)
class _Told:
    """A turn, as far as it was told."""

    began: bool = False
    ended: bool = False
    revision: int = -1
    """Of what was sent to be written down last."""
    seconds: float = 0.0
    """Of its sound."""
    answered: bool = False
    committed: bool = False
    owed: bool = False
    """It is committed, and its answer has not begun."""
    words: str | None = None
    """All of them, of the revision `of_revision`."""
    error: str | None = None
    of_revision: int = -1
    stable: str = ""
    finished: bool = False
    """Its words were told, or that they do not come."""


class TurnTelling:
    """The turns of one session.

    Args:
        events: takes what is told; must not call back.
        committed: makes a turn an item; returns the id of the item before it.
        transcribes: whether words are told.
    """

    def __init__(
        self,
        events: EventSink,
        committed: Callable[[TurnId], str | None],
        transcribes: Callable[[], bool],
    ) -> None:
        self.now_ms = 0
        """How far the person was heard."""
        self._events = events
        self._commit = committed
        self._transcribes = transcribes
        self._lock = threading.RLock()
        self._turns: dict[str, _Told] = {}
        self._over: deque[str] = deque(maxlen=MAX_TURNS)
        """Turns of which all was told."""

    def began(self, turn_id: str, start_ms: int) -> None:
        """The turn counts, since then. Told once."""
        with self._lock:
            if turn_id in self._over:
                return
            told = self._turn(turn_id)
            if not told.began and not told.committed:
                told.began = True
                self._events(TurnBegan(user_item_id(turn_id), max(0, start_ms)))

    def has_begun(self, turn_id: str) -> bool:
        with self._lock:
            told = self._turns.get(turn_id)
            return turn_id in self._over or (told is not None and told.began)

    @property
    def begun(self) -> list[str]:
        """Turns that began and are neither committed nor dropped."""
        with self._lock:
            return [each for each, told in self._turns.items() if told.began and not told.ended]

    def sent(self, turn: TurnId, seconds: float, *, answered: bool) -> None:
        """All of `turn` is on its way to be written down."""
        with self._lock:
            if turn.turn_id in self._over:
                return
            told = self._turn(turn.turn_id)
            told.revision, told.seconds = turn.turn_revision, seconds
            told.answered = answered

    def unanswered(self, turn_id: str) -> None:
        """Nothing is to answer a turn that is not committed."""
        with self._lock:
            told = self._turns.get(turn_id)
            if told is not None:
                told.answered = False

    def take_over(self) -> list[str]:
        """Turns on their way, whose answers somebody else gives: they have none of their own."""
        with self._lock:
            taken = [turn.turn_id for turn in self.waiting if self._turns[turn.turn_id].answered]
            for turn_id in taken:
                self._turns[turn_id].answered = False
            return taken

    def sent_revision(self, turn_id: str) -> TurnId | None:
        """What is on its way of a turn that is not committed."""
        with self._lock:
            told = self._turns.get(turn_id)
            if told is None or told.committed or told.revision < 0:
                return None
            return TurnId(turn_id, told.revision)

    @property
    def waiting(self) -> list[TurnId]:
        """Revisions on their way, of turns that are not committed."""
        with self._lock:
            found = [self.sent_revision(turn_id) for turn_id in self._turns]
            return [turn for turn in found if turn is not None]

    def dropped(self, turn_id: str, why: str) -> None:
        """Nothing came of the turn."""
        with self._lock:
            told = self._turns.pop(turn_id, None)
            self._over.append(turn_id)
            if told is not None and told.began and not told.ended:
                self._events(TurnEnded(user_item_id(turn_id), self.now_ms, why))

    def committed(self, turn: TurnId, idle: tuple[int, int] | None = None) -> None:
        """`turn` is over and stays as it is. Told once; a turn that is not known is not told."""
        with self._lock:
            told = self._turns.get(turn.turn_id)
            if told is None or told.committed:
                return
            told.committed = True
            told.owed = told.answered
            item_id = user_item_id(turn.turn_id)
            if told.began:
                told.ended = True
                self._events(TurnEnded(item_id, self.now_ms))
            self._events(TurnCommitted(item_id, self._commit(turn), idle))
            self._finish(turn.turn_id, told)

    def partial(self, turn: TurnId, text: str, stable: str) -> None:
        """`turn` seems to say `text`."""
        with self._lock:
            told = self._turns.get(turn.turn_id)
            if told is None or told.finished or not (told.began or told.committed):
                return
            if stable.startswith(told.stable):
                told.stable = stable
            self._tell(TurnTranscript(user_item_id(turn.turn_id), text, told.stable, False))

    def words(self, turn: TurnId, text: str) -> None:
        """`turn` says `text`."""
        self._known(turn, text, None)

    def failed(self, turn: TurnId, error: str) -> None:
        """The words of `turn` will not come."""
        self._known(turn, None, error)

    @property
    def owed(self) -> list[str]:
        """Turns that are committed, and whose answers have not begun."""
        with self._lock:
            return [turn_id for turn_id, told in self._turns.items() if told.owed]

    def settled(self, turn_id: str) -> None:
        """The answer to a turn has begun, or there will be none."""
        with self._lock:
            told = self._turns.get(turn_id)
            if told is not None:
                told.owed = False
                self._finish(turn_id, told)

    # --- inside; the lock is held ----------------------------------------------------------------

    def _turn(self, turn_id: str) -> _Told:
        known = self._turns.get(turn_id)
        if known is None:
            known = self._turns[turn_id] = _Told()
            while len(self._turns) > MAX_TURNS:
                self._turns.pop(next(iter(self._turns)))
        return known

    def _known(self, turn: TurnId, words: str | None, error: str | None) -> None:
        with self._lock:
            told = self._turns.get(turn.turn_id)
            if told is None or turn.turn_revision < told.of_revision:
                return
            told.words, told.error, told.of_revision = words, error, turn.turn_revision
            self._finish(turn.turn_id, told)

    def _finish(self, turn_id: str, told: _Told) -> None:
        """Tell the words of a committed turn; forget it when nothing is left to be told."""
        if told.committed and not told.finished and told.of_revision >= told.revision:
            told.finished = True
            item_id = user_item_id(turn_id)
            if told.error is not None:
                self._tell(TurnTranscriptFailed(item_id, told.error))
            else:
                words = (told.words or "").strip()
                told.owed = told.owed and bool(words)
                self._tell(TurnTranscript(item_id, words, words, True, told.seconds))
        if told.finished and not told.owed:
            self._turns.pop(turn_id, None)
            self._over.append(turn_id)

    def _tell(self, event: Event) -> None:
        if self._transcribes():
            self._events(event)
