"""Turns that may still go on. Work on them starts at once; only what is heard waits.

A turn ends provisionally when the speaker pauses. Until it is committed it can be re-opened: the
speaker goes on, the turn gets a new revision, and everything made for the old one is stale. It is
committed as late as possible: by the TTS stage, before the first audio leaves.

Where sound can be taken back, the answer may begin before that: a provisional start. The turn is
then committed by time alone, once its grace is over and the voice has not come back; a re-opening
takes the start back. Each turn is begun so once: who was interrupted is next given the whole grace
(docs/decisions/provisional-starts.md).

    pending --begin_from--> (may begin) --begin_provisionally--> provisional --grace--> committed
       |                                                              |
       +--grace, commit-----------------------------------------------|------------> committed
       +--begin_reopen, confirm_reopen: the next revision, pending <--+

Knows nothing about audio or models. Waits on the session's clock, never polls.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from s2s.core.clock import Clock
from s2s.core.messages import TurnId
from s2s.core.stop import Listeners

MAX_TRACKED_TURNS = 2048
PENDING_REOPEN_S = 2.0
"""A re-opening that is neither confirmed nor cancelled within this time is void."""


class Verdict(Enum):
    """What is known about a revision of a turn."""

    LATEST = "latest"
    """Newest revision, its grace is over, no speech is about to go on: it may be committed."""
    PROVISIONAL = "provisional"
    """Newest revision: the answer may be heard, if it can be taken back. No commit yet."""
    PENDING = "pending"
    """Newest revision, but the speaker may still go on."""
    STALE = "stale"
    """Re-opened since, or not known (any more)."""


@dataclass(slots=True)
class _Turn:
    revision: int
    grace_until_s: float = math.inf
    committed: bool = False
    reopening_since_s: float | None = None
    begin_from_s: float = math.inf
    """From when on the answer may begin provisionally; not before `grace_until_s`: never."""
    begun: bool = False
    """The answer to this revision began provisionally."""
    taken_back: bool = False
    """A start of an earlier revision was taken back."""


class SpeculativeTurns:
    """The turns of one session. Safe from any thread.

    Only a turn that was observed is known; at most `MAX_TRACKED_TURNS` are kept, and one that was
    forgotten is stale for ever.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = clock.condition()
        self._turns: OrderedDict[str, _Turn] = OrderedDict()
        self._listeners = Listeners()

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` after a turn may have become stale; returns what ends that."""
        return self._listeners.listen(heard)

    def observe(self, turn: TurnId, *, grace_until_s: float = math.inf) -> None:
        """Make `turn` the newest revision of its turn, to be spoken to after `grace_until_s`.

        Without a grace the turn stays pending until `set_grace`.
        """
        with self._changed:
            known = self._turns.get(turn.turn_id)
            if known is not None and turn.turn_revision < known.revision:
                return
            if known is None or turn.turn_revision > known.revision:
                newest = self._turns[turn.turn_id] = _Turn(turn.turn_revision)
                if known is not None:
                    newest.committed = known.committed
                    newest.taken_back = known.taken_back or known.begun
                while len(self._turns) > MAX_TRACKED_TURNS:
                    self._turns.popitem(last=False)
            self._turns[turn.turn_id].grace_until_s = grace_until_s
            self._changed.notify_all()
        self._listeners.tell()

    def set_grace(
        self, turn: TurnId, until_s: float, *, provisional_from_s: float | None = None
    ) -> None:
        """Let `turn` be committed once the clock reads `until_s`. Ignored for other revisions.

        Args:
            turn: the revision meant.
            until_s: end of the grace. A start that was provisional is committed then.
            provisional_from_s: from when on the answer may begin provisionally; None: not before
                the commit. Without effect once a start of the turn was taken back.
        """
        with self._changed:
            known = self._turns.get(turn.turn_id)
            if known is not None and known.revision == turn.turn_revision:
                self._settle(known)
                known.grace_until_s = until_s
                if provisional_from_s is None or known.taken_back:
                    provisional_from_s = math.inf
                known.begin_from_s = provisional_from_s
                self._changed.notify_all()

    def is_latest(self, turn: TurnId) -> bool:
        """Whether `turn` is the newest revision of a known turn. Never waits."""
        with self._changed:
            known = self._turns.get(turn.turn_id)
            return known is not None and known.revision == turn.turn_revision

    def is_superseded(self, turn: TurnId) -> bool:
        """Whether the turn was re-opened after the revision `turn`. Never waits."""
        with self._changed:
            known = self._turns.get(turn.turn_id)
            return known is not None and known.revision > turn.turn_revision

    def is_provisional(self, turn: TurnId) -> bool:
        """Whether the answer to the revision `turn` has begun and may still be taken back."""
        with self._changed:
            known = self._turns.get(turn.turn_id)
            if known is None or known.revision != turn.turn_revision:
                return False
            self._settle(known)
            return known.begun and not known.committed

    def verdict(self, turn: TurnId) -> Verdict:
        """What is known now. Never waits."""
        with self._changed:
            return self._verdict(turn)[0]

    def is_latest_after_reopen_grace(
        self,
        turn: TurnId,
        *,
        stale: Callable[[], bool] = lambda: False,
        provisionally: bool = False,
    ) -> bool:
        """Wait until the grace of `turn` is over and it is not about to be re-opened.

        Args:
            turn: the revision asked about.
            stale: ends the wait with False; looked at whenever something changes (see `wake`).
            provisionally: wait only until the answer may begin, though it may be taken back.
        """
        enough = {Verdict.LATEST, Verdict.PROVISIONAL} if provisionally else {Verdict.LATEST}
        with self._changed:
            while not stale():
                verdict, wait_s = self._verdict(turn)
                if verdict in enough or verdict is Verdict.STALE:
                    return verdict in enough
                self._changed.wait(None if math.isinf(wait_s) else wait_s)
            return False

    def commit(self, turn: TurnId) -> bool:
        """Close `turn` for re-opening; False when it is stale or being re-opened."""
        with self._changed:
            known = self._turns.get(turn.turn_id)
            if known is None or known.revision != turn.turn_revision:
                return False
            if not known.committed and self._reopening_for_s(known) > 0:
                return False
            known.committed = True
            self._changed.notify_all()
            return True

    def begin_provisionally(self, turn: TurnId) -> bool:
        """Let the answer to `turn` be heard before the commit, which follows by time; False when
        it may not begin, or need not be provisional any more."""
        with self._changed:
            if self._verdict(turn)[0] is not Verdict.PROVISIONAL:
                return False
            self._turns[turn.turn_id].begun = True
            self._changed.notify_all()
            return True

    def commit_provisional(self) -> None:
        """Commit every turn whose answer began provisionally and that is not being re-opened: the
        person has dealt with the answer, so it was given."""
        with self._changed:
            for known in self._turns.values():
                if known.begun and self._reopening_for_s(known) <= 0:
                    known.committed = True
            self._changed.notify_all()

    def is_committed(self, turn_id: str) -> bool:
        """Whether the turn can no longer be re-opened. A forgotten turn is committed."""
        with self._changed:
            known = self._turns.get(turn_id)
            if known is not None:
                self._settle(known)
            return known is None or known.committed

    def begin_reopen(self, turn_id: str) -> bool:
        """The speaker may be going on: hold the turn back; False when it is too late."""
        with self._changed:
            known = self._turns.get(turn_id)
            if known is not None:
                self._settle(known)
            if known is None or known.committed:
                return False
            known.reopening_since_s = self._clock.now()
            self._changed.notify_all()
            return True

    def cancel_reopen(self, turn_id: str) -> None:
        """It was nothing: the pending answer is good."""
        with self._changed:
            known = self._turns.get(turn_id)
            if known is not None:
                known.reopening_since_s = None
                self._changed.notify_all()

    def confirm_reopen(self, turn_id: str) -> TurnId | None:
        """The speaker goes on: returns the new revision, or None when it is too late."""
        with self._changed:
            known = self._turns.get(turn_id)
            if known is not None:
                self._settle(known)
            if known is None or known.committed:
                return None
            known.revision += 1
            known.grace_until_s = known.begin_from_s = math.inf
            known.reopening_since_s = None
            known.begun, known.taken_back = False, known.taken_back or known.begun
            revised = TurnId(turn_id, known.revision)
            self._changed.notify_all()
        self._listeners.tell()
        return revised

    def forget(self, turn_id: str) -> None:
        """The turn is not to be answered: all work on it is stale, for ever."""
        with self._changed:
            self._turns.pop(turn_id, None)
            self._changed.notify_all()
        self._listeners.tell()

    def wake(self) -> None:
        """Let everyone who waits look at `stale` again (after an interruption)."""
        with self._changed:
            self._changed.notify_all()
        self._listeners.tell()

    def reset(self) -> None:
        """Forget all turns: all their work is stale. Turn ids must not be used again."""
        with self._changed:
            self._turns.clear()
            self._changed.notify_all()
        self._listeners.tell()

    def _reopening_for_s(self, known: _Turn) -> float:
        """Seconds for which an unconfirmed re-opening still holds the turn back."""
        if known.reopening_since_s is None:
            return 0.0
        return known.reopening_since_s + PENDING_REOPEN_S - self._clock.now()

    def _settle(self, known: _Turn) -> None:
        """Commit what began provisionally, if its time has come."""
        over = known.grace_until_s <= self._clock.now() and self._reopening_for_s(known) <= 0
        known.committed = known.committed or (known.begun and over)

    def _verdict(self, turn: TurnId) -> tuple[Verdict, float]:
        """The verdict and, when it is not final, for how many seconds at most."""
        known = self._turns.get(turn.turn_id)
        if known is None or known.revision != turn.turn_revision:
            return Verdict.STALE, 0.0
        self._settle(known)
        if known.committed:
            return Verdict.LATEST, 0.0
        now_s, reopening_s = self._clock.now(), self._reopening_for_s(known)
        certain_s = max(known.grace_until_s - now_s, reopening_s)
        if certain_s <= 0:
            return Verdict.LATEST, 0.0
        begin_s = 0.0 if known.begun else known.begin_from_s - now_s
        begin_s = max(begin_s, reopening_s)
        if begin_s <= 0:
            return Verdict.PROVISIONAL, certain_s
        return Verdict.PENDING, min(begin_s, certain_s)
