"""A talk key on a terminal, which tells when a key goes down but never when it goes up.

Pressed and let go it is a switch: down, and up when it is pressed again. Held down it is heard
again and again, and is up when that ends. Which of the two it is shows after a moment; a press that
may be either is decided then (docs/decisions/talk-key.md). Pure; times in seconds of any one clock.
"""

from __future__ import annotations

REPEAT_S = 0.15
"""A key that is held repeats faster than this (terminals and systems: 25 to 50 ms)."""
FIRST_REPEAT_S = (0.2, 0.75)
"""When the first repetition of a held key may come (systems: 225 to 660 ms)."""


class HeldKey:
    """One key. Not thread-safe."""

    def __init__(self) -> None:
        self.down = False
        self._pressed_s = float("-inf")
        """When it went down."""
        self._last_s = float("-inf")
        """When it was heard last."""
        self._held = False
        self._unsure = False
        """It was heard when a held key repeats for the first time: held, or pressed again."""

    @property
    def deadline_s(self) -> float | None:
        """When `expired` decides, if the key is not heard before."""
        return self._last_s + REPEAT_S if self.down and (self._held or self._unsure) else None

    def pressed(self, now_s: float) -> None:
        """The key is heard."""
        since_s, self._last_s = now_s - self._last_s, now_s
        if not self.down:
            self.down, self._pressed_s = True, now_s
        elif self._held or since_s < REPEAT_S:
            self._held = True
        elif FIRST_REPEAT_S[0] <= now_s - self._pressed_s <= FIRST_REPEAT_S[1]:
            self._unsure = True
        else:
            self._up()

    def expired(self, now_s: float) -> None:
        """Time has come to `now_s`."""
        deadline_s = self.deadline_s
        if deadline_s is not None and now_s >= deadline_s:
            self._up()

    def _up(self) -> None:
        self.down = self._held = self._unsure = False
