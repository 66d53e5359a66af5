"""Speech against the assistant's own echo: the bar rises with the echo that is to be expected.

A window that its echo explains is no speech, whatever the voice detector makes of it: an echo is
speech. Pure; the transport says by how much each window is louder than its echo
(docs/decisions/open-speakers.md).
"""

from __future__ import annotations

import math

HOLD_WINDOWS = 5
"""After a window of speech the bar is lower for 160 ms: syllables end softly."""
LOWERED_DB = 3.0
SOFT_DB = 3.0
"""Below the bar a window counts in part, down to nothing so far below."""
CLEAR_DB = 8.0
CLEAR_SHARE = 0.3
"""Speech of which such a share is louder than its echo by this is a person's: of an echo, one
window in a hundred is. Once it is ducked, a person who speaks 6 dB above an answer is 18 dB above
it."""
FEWEST_WINDOWS = 3
ACTIVE = 0.5
"""Speech probability of a window that says something about who speaks."""


class OverEcho:
    """What is heard of one stretch of speech beyond the echo. Not thread-safe."""

    def __init__(self, bar_db: float) -> None:
        self._bar_db = bar_db
        self._held = 0
        self._before_db = math.inf
        """Of the window before: one alone above the bar is a hiccup of the echo, two are speech."""
        self._over_db: list[float] = []

    @property
    def echo(self) -> bool:
        """An echo was to be expected in this speech."""
        return any(over_db < math.inf for over_db in self._over_db)

    @property
    def clear(self) -> bool:
        """It is louder than any echo explains."""
        if not self.echo:
            return True
        loud = sum(over_db >= CLEAR_DB for over_db in self._over_db)
        return loud >= max(FEWEST_WINDOWS, CLEAR_SHARE * len(self._over_db))

    def onset(self) -> None:
        """Another stretch of speech begins, with the window that was heard last."""
        self._over_db = self._over_db[-1:]

    def probability(self, probability: float, over_echo_db: float) -> float:
        """The speech probability of a window, in [0, 1], by what its echo leaves of it."""
        if probability >= ACTIVE:
            self._over_db.append(over_echo_db)
        before_db, self._before_db = self._before_db, over_echo_db
        if over_echo_db == math.inf:
            return probability
        bar_db = self._bar_db - (LOWERED_DB if self._held else 0.0)
        lower_db = over_echo_db if self._held else min(over_echo_db, before_db)
        share = min(1.0, max(0.0, 1.0 + (lower_db - bar_db) / SOFT_DB))
        self._held = HOLD_WINDOWS if share == 1.0 else max(0, self._held - 1)
        return probability * share
