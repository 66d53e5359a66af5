"""Rings the alarms of a session: each once it is due and nobody speaks, and again where nothing of
that was heard because somebody interrupted just then.
"""

from __future__ import annotations

from collections.abc import Callable

from s2s.core.events import Event, ResponseStarted
from s2s.core.messages import Announcement, ResponseId, TurnId
from s2s.core.state import SessionState
from s2s.core.tooling import Alarm, Alarms


class Bell:
    """Of one session. `look` from one thread, `on_event` from any.

    Args:
        alarms: the session's.
        state: of the session.
        turn_id: names the turn of what rings; a number is put behind it.
        key: names the response to a turn.
        announce: has it rung; False where too much waits.
    """

    def __init__(
        self,
        alarms: Alarms,
        state: SessionState,
        turn_id: str,
        key: Callable[[TurnId], str],
        announce: Callable[[Announcement], bool],
    ) -> None:
        self._alarms = alarms
        self._state = state
        self._turn_id = turn_id
        self._key = key
        self._announce = announce
        self._ringing: tuple[Alarm, TurnId] | None = None
        self._rings = 0

    def sooner(self, due_s: float | None) -> float | None:
        """When to look again: then, or when the next alarm is due."""
        alarm = self._alarms.next
        if alarm is None:
            return due_s
        return alarm.due_s if due_s is None else min(due_s, alarm.due_s)

    def look(self, now_s: float, *, quiet: bool) -> bool:
        """Ring what is due; `quiet`: nobody speaks, and nothing is being answered. Whether it
        rings."""
        alarm = self._alarms.next
        if not quiet or alarm is None or alarm.due_s > now_s:
            return False
        self._rings += 1
        turn = TurnId(f"{self._turn_id}{self._rings}", 0)
        self._state.turns.observe(turn, grace_until_s=now_s)
        self._state.turns.commit(turn)
        self._ringing = (alarm, turn)
        response = ResponseId(turn.turn_id, 0, self._state.scope.generation, self._key(turn))
        return self._announce(Announcement(alarm.name, response))

    def on_event(self, event: Event) -> None:
        """It is heard: it has rung."""
        ringing = self._ringing
        if isinstance(event, ResponseStarted) and ringing is not None:
            alarm, turn = ringing
            if event.response.turn == turn:
                self._ringing = None
                self._alarms.cancel(alarm)
