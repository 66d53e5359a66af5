"""The rules by which conversations are kept, without any waiting: who holds one, what is newest,
and what goes when there is too much. Times are of a clock that is given.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from s2s.transport.server.kept.store import Claim, Holder, Written

MOST = 100_000
"""Conversations that are kept; those that were written longest ago go."""
MOST_BYTES = 512 << 20
"""Of all of them together."""
OVERHEAD_BYTES = 512
"""Of one, beside its state."""


@dataclass(slots=True)
class _Kept:
    epoch: int
    replica: str | None
    """Where its client is; None: it has gone."""
    state: bytes | None
    until_s: float
    awaited: int = 0
    """Epoch of a connection that is to hand over what it has; 0: none."""

    @property
    def size(self) -> int:
        return OVERHEAD_BYTES + (0 if self.state is None else len(self.state))


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim, and who is to be told of it."""

    claim: Claim
    older: str | None
    """The replica on which the client's connection still is."""


class Shelf:
    """Conversations by name.

    Args:
        now: seconds since 1970: epochs are made of it, so that they grow also after all was lost.
        most, most_bytes: how much is kept.
    """

    def __init__(
        self, now: Callable[[], float], most: int = MOST, most_bytes: int = MOST_BYTES
    ) -> None:
        self._now = now
        self._most = most
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self.size = 0
        """Bytes of all."""

    def __len__(self) -> int:
        return len(self._kept)

    def claim(self, name: str, replica: str, keep_s: float) -> Claimed:
        """See `ConversationStore.claim`."""
        before = self._take(name)
        epoch = int(1000 * self._now())
        if before is None:
            self._put(name, _Kept(epoch, replica, None, self._now() + keep_s))
            return Claimed(Claim(epoch, 0, None), None)
        epoch = max(epoch, before.epoch + 1)
        older = before.replica
        until_s = self._now() + keep_s
        awaited = 0 if older is None else before.epoch
        self._put(name, _Kept(epoch, replica, before.state, until_s, awaited))
        return Claimed(Claim(epoch, before.epoch, before.state), older)

    def state(self, name: str) -> bytes | None:
        """What is kept of it."""
        kept = self._kept.get(name)
        return None if kept is None else kept.state

    def write(self, holder: Holder, state: bytes | None, keep_s: float) -> Written:
        """See `ConversationStore.write`. What is not known, as after a loss of all, is put back by
        who writes it whole."""
        kept = self._take(holder.name)
        until_s = self._now() + keep_s
        if kept is None:
            if state is None:
                return "unknown"
            kept = _Kept(holder.epoch, holder.replica, state, until_s)
        elif holder.epoch < kept.epoch:
            self._put(holder.name, kept)
            return "taken"
        elif state is not None:
            kept.state = state
            kept.awaited = 0
        kept.until_s = until_s
        self._put(holder.name, kept)
        return "unknown" if kept.state is None else "kept"

    def leave(self, holder: Holder, state: bytes | None, keep_s: float) -> bool:
        """See `ConversationStore.leave`; True: its client waits elsewhere for what it leaves."""
        kept = self._take(holder.name)
        awaited = kept is not None and kept.awaited == holder.epoch
        if kept is None or holder.epoch >= kept.epoch:
            kept = _Kept(holder.epoch, None, state, self._now() + keep_s)
        elif awaited:
            kept.awaited = 0
            kept.state = kept.state if state is None else state
        self._put(holder.name, kept)
        return awaited

    def give_up_waiting(self, name: str) -> None:
        """Nothing is handed over any more."""
        if (kept := self._kept.get(name)) is not None:
            kept.awaited = 0

    def _take(self, name: str) -> _Kept | None:
        """Take it off; None where there is none, or it was kept long enough."""
        kept = self._kept.pop(name, None)
        if kept is None:
            return None
        self.size -= kept.size
        return kept if kept.until_s > self._now() else None

    def _put(self, name: str, kept: _Kept) -> None:
        """Put it behind all others, and drop what is too much."""
        self._kept[name] = kept
        self.size += kept.size
        while len(self._kept) > 1 and (
            len(self._kept) > self._most or self.size > self._most_bytes
        ):
            _, oldest = self._kept.popitem(last=False)
            self.size -= oldest.size

    def forget_old(self) -> None:
        """Drop what was kept long enough."""
        now_s = self._now()
        for name in [name for name, kept in self._kept.items() if kept.until_s <= now_s]:
            self.size -= self._kept.pop(name).size
