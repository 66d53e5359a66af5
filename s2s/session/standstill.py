"""An answer that is owed and on which nothing moves: found by looking now and then.

Knows how far the stages are, not what they do.
"""

from __future__ import annotations

from collections.abc import Sequence

from s2s.core.events import Event, SpeechStopped
from s2s.core.handler import AnyStage
from s2s.core.messages import TurnId
from s2s.core.watchdog import Watchdog
from s2s.transport.output import SoundOutput


class Standstill:
    """Watches one session. `look` from one thread, `on_event` from any."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._watchdog = Watchdog(patience_s)
        self._asked: TurnId | None = None

    def on_event(self, event: Event) -> None:
        """Remember what was asked last."""
        if isinstance(event, SpeechStopped):
            self._asked = event.turn

    def owes(self, turn: TurnId) -> None:
        """An answer to `turn` is owed, though nobody spoke."""
        self._asked = turn

    def look(
        self, now_s: float, stages: Sequence[AnyStage], playback: SoundOutput, *, listening: bool
    ) -> str | None:
        """What stands still for too long, in words, once for each standstill; else None.

        Args:
            now_s: what the clock reads.
            stages: the session's stages.
            playback: what plays the answer.
            listening: the person is silent, so that the answer is due.
        """
        working = self._asked is not None and any(not stage.idle for stage in stages)
        owed = listening and (working or playback.playing)
        progress = sum(stage.sent for stage in stages) + playback.played_samples
        if not self._watchdog.stalled(now_s, progress, owed):
            return None
        # The last one: what is before it waits for it, or hears sound that still comes in.
        stuck = next((stage.name for stage in reversed(stages) if not stage.idle), "playback")
        return f"nothing came from {stuck} for {self._patience_s:g} s"

    def take_asked(self) -> TurnId | None:
        """The turn whose answer is owed; from now on none is."""
        asked, self._asked = self._asked, None
        return asked
