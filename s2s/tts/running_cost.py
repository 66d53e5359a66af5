"""How long the next piece of a text may be, for a voice that takes its time: by what its calls take
here and now. Pure; knows no model.

A voice that needs half a second for a second of sound starts late when it makes a whole sentence
first, and falls silent when a long piece follows a short one. So a piece is as long as can be made
while what is there is played; what that is, is learnt from every call, since another program or the
language model may take half of the processor at any moment. `s2s.tts.pieces` cuts at the next
boundary of the text. docs/decisions/text-splitters.md
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

_FORGET = 0.75
"""Weight of a call against the next one: the last four or so count."""
_GUESSED = 0.05
"""Weight of what is assumed before the first call: it decides only what the calls leave open."""
_MARGIN = 1.25
"""Calls vary by about a fifth on a busy machine."""
FIRST_S = 0.8
"""Work for the first piece, wished: below this a short clause hardly starts sooner, since a call
costs something of its own."""
SLACK_S = 0.1
"""A piece should be there so long before it is needed: it is resampled and cut into blocks."""


@dataclass(slots=True)
class _Sums:
    """Weighted sums over calls: characters x, seconds of work y, seconds of sound z."""

    n: float = 0.0
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    xx: float = 0.0
    xy: float = 0.0

    def add(self, chars: int, work_s: float, sound_s: float, weight: float = 1.0) -> None:
        """One more call; those before it count less."""
        self.n = self.n * _FORGET + weight
        self.x = self.x * _FORGET + weight * chars
        self.y = self.y * _FORGET + weight * work_s
        self.z = self.z * _FORGET + weight * sound_s
        self.xx = self.xx * _FORGET + weight * chars * chars
        self.xy = self.xy * _FORGET + weight * chars * work_s


class RunningCost:
    """What the calls of one voice take: so much each, and so much a character. Any thread.

    Args:
        call_s: work of a call before its first character, until calls have been seen.
        char_s: work of a character, likewise.
        chars_per_s: characters spoken in a second, likewise.
    """

    def __init__(
        self, call_s: float = 0.2, char_s: float = 0.035, chars_per_s: float = 14.0
    ) -> None:
        self._lock = threading.Lock()
        self._sums = _Sums()
        for chars in (20, 100):
            self._sums.add(chars, call_s + char_s * chars, chars / chars_per_s, _GUESSED)

    def note(self, chars: int, work_s: float, sound_s: float) -> None:
        """A call for `chars` characters took `work_s` and made `sound_s` of sound."""
        if chars > 0 and work_s >= 0.0:
            with self._lock:
                self._sums.add(chars, work_s, sound_s)

    def work_s(self, chars: int) -> float:
        """Seconds that a call for so many characters is expected to take."""
        call_s, char_s = self._line()
        return call_s + char_s * chars

    def chars_in(self, seconds: float) -> int:
        """The most characters that a call surely makes in that time; at least 1."""
        call_s, char_s = self._line()
        spare_s = seconds / _MARGIN - call_s
        return 1 if spare_s <= 0.0 else max(1, int(min(spare_s / max(char_s, 1e-6), 1e6)))

    @property
    def real_time_factor(self) -> float:
        """Seconds of work for one of sound, of late."""
        with self._lock:
            return self._sums.y / self._sums.z if self._sums.z > 0.0 else 0.0

    def _line(self) -> tuple[float, float]:
        """(work of a call, work of a character): the least squares of late, neither below 0."""
        with self._lock:
            sums = self._sums
            spread = sums.n * sums.xx - sums.x * sums.x
            char_s = (sums.n * sums.xy - sums.x * sums.y) / spread if spread > 1e-3 else 0.0
            char_s = min(max(char_s, 0.0), sums.y / sums.x)
            return max(0.0, (sums.y - char_s * sums.x) / sums.n), char_s


class PieceLength:
    """How long the next piece of one utterance should be.

    What is there is played from the moment it is made, as far as the voice can know: that the
    listener gets it later only leaves more time.

    Args:
        cost: of the voice; learns from what is made.
        now: seconds, of any clock.
        first_s: work for the first piece, wished.
    """

    def __init__(
        self, cost: RunningCost, now: Callable[[], float], first_s: float = FIRST_S
    ) -> None:
        self._cost = cost
        self._now = now
        self._first_s = first_s
        self._asked_s = now()
        self._ends_s: float | None = None  # when what was made has been played

    def wish(self) -> int:
        """Characters of the next piece, which is begun now."""
        self._asked_s = now = self._now()
        if self._ends_s is None:
            return self._cost.chars_in(self._first_s)
        return self._cost.chars_in(self._ends_s - now - SLACK_S)

    def made(self, chars: int, sound_s: float) -> None:
        """The piece is there: so many characters became so much sound."""
        now = self._now()
        self._cost.note(chars, now - self._asked_s, sound_s)
        self._ends_s = max(now, self._ends_s or now) + sound_s
