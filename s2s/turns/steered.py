"""A turns stage whose turns are also ended and dropped from outside, and counted across its lives.

What detects speech changes with a new one: its settings hold for as long as it lives.
"""

from __future__ import annotations

from collections.abc import Iterator

from s2s.core.messages import SttInput, TurnId
from s2s.turns.handler import TurnsHandler


class SteeredTurns(TurnsHandler):
    """`TurnsHandler` for a client. For the thread of the turns stage."""

    @property
    def count(self) -> int:
        """Turns so far."""
        return self._count

    @count.setter
    def count(self, turns: int) -> None:
        self._count = turns

    @property
    def turn(self) -> TurnId | None:
        """The turn that is open."""
        return None if self._turn is None else self._turn.id

    @property
    def over_reply(self) -> bool:
        """What is being said began over an answer, and is no turn yet."""
        return self._overlap.open

    @property
    def speaking(self) -> bool:
        """Something like speech is going on."""
        return self._segmenter.start_sample != self._segmenter.sample

    @property
    def start_sample(self) -> int:
        """First sample of the open turn, with what is put in front of its speech."""
        return self._segmenter.start_sample

    def coming(self) -> str:
        """The id of the turn that is open, or of the next."""
        if self._turn is not None:
            return self._turn.id.turn_id
        return f"{self._session_id}-{self._count + 1}"

    def next_turn(self) -> TurnId:
        """A turn of its own, beside what is heard."""
        turn = self._new_turn()
        return turn.id

    def end_turn(self) -> Iterator[SttInput]:
        """What is being said ends here, and may be answered at once."""
        yield from self._end_speech()
        if self._turn is not None and self._turn.pause is not None:
            self._turns.set_grace(self._turn.id, self._state.clock.now())

    def drop_turn(self) -> None:
        """Forget what is being said."""
        self._listen_afresh()
