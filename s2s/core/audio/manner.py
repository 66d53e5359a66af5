"""How the assistant speaks in one conversation: faster or slower, louder or quieter than its voice
does by itself. Knows no voice and no words.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Literal

MannerChange = Literal["slower", "faster", "louder", "quieter", "normal"]

SPEED_STEP = 1.2
SLOWEST, FASTEST = 0.6, 1.75
"""Three steps each way: beyond them stretched speech is hard to follow."""
VOLUME_STEP_DB = 4.0
MOST_VOLUME_DB = 12.0


@dataclass(frozen=True, slots=True)
class SpeakingManner:
    """Beside what the voice's settings say."""

    speed: float = 1.0
    """Times the voice's pace."""
    volume_db: float = 0.0

    def changed(self, how: MannerChange) -> SpeakingManner:
        """One step further; the same at the end of what there is."""
        match how:
            case "slower":
                return replace(self, speed=max(SLOWEST, _near_one(self.speed / SPEED_STEP)))
            case "faster":
                return replace(self, speed=min(FASTEST, _near_one(self.speed * SPEED_STEP)))
            case "louder":
                return replace(self, volume_db=min(MOST_VOLUME_DB, self.volume_db + VOLUME_STEP_DB))
            case "quieter":
                return replace(
                    self, volume_db=max(-MOST_VOLUME_DB, self.volume_db - VOLUME_STEP_DB)
                )
            case "normal":
                return SpeakingManner()


PLAIN_MANNER = SpeakingManner()


class SpokenManner:
    """The manner of one session. Safe from any thread.

    A change is tried out by the answer that tells of it, which is made before it is certain that
    the person said just that; it stays once that is settled.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settled = PLAIN_MANNER
        self._trial: SpeakingManner | None = None

    @property
    def current(self) -> SpeakingManner:
        """How what is made now is spoken."""
        with self._lock:
            return self._trial or self._settled

    @property
    def settled(self) -> SpeakingManner:
        """What stays."""
        with self._lock:
            return self._settled

    def try_out(self, manner: SpeakingManner | None) -> None:
        """Speak so until it is settled or something else is tried; None: nothing is tried."""
        with self._lock:
            self._trial = manner

    def settle(self) -> None:
        """What is tried out stays."""
        with self._lock:
            self._settled, self._trial = self._trial or self._settled, None


def _near_one(speed: float) -> float:
    """Steps up and down again end where they began."""
    return 1.0 if abs(speed - 1.0) < 1e-6 else speed
