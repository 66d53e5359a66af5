"""Whether a measurement can be trusted: what else computed meanwhile, and when it was made.

Why a bad one is not kept: docs/decisions/qwen3-measuring.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from s2s.system.compute import NOTICED, Counters, counters

_STEAL_COUNTS = partial(counters, steal=True)
_TODAY = partial(datetime.now, UTC)
_TICK_S = 0.02
"""Two steps of the system's counters, one at each end: less than this is nobody's."""


@dataclass(frozen=True, slots=True)
class MeasuringConditions:
    """How and when something was measured.

    measured: the minute, in UTC. others_cores: cores that other programs used meanwhile, and that a
    virtual machine did not get; alone: nothing else of this program computed. utterances: by how
    many of them it was corrected since; 0 for a measurement as it was made.
    """

    measured: str = ""
    others_cores: float = 0.0
    alone: bool = True
    utterances: int = 0

    @property
    def good(self) -> bool:
        """The figures are those of the machine, not of what else it did."""
        return self.alone and self.others_cores <= NOTICED

    def __str__(self) -> str:
        """For a person: "measured 2026-11-30 12:05 UTC, nothing else computed"."""
        beside: list[str] = []
        if self.others_cores > NOTICED:
            beside.append(f"other programs used {self.others_cores:.1f} cores")
        if not self.alone:
            beside.append("another part of this program computed")
        when = self.measured or "at some time"
        found = f"measured {when}, {' and '.join(beside) or 'nothing else computed'}"
        return f"{found}, corrected by {self.utterances} utterances" if self.utterances else found


class LoadWatch:
    """Looks at what else computes from now on."""

    def __init__(
        self,
        alone: Callable[[], bool],
        *,
        read: Counters = _STEAL_COUNTS,
        now: Callable[[], float] = time.perf_counter,
        today: Callable[[], datetime] = _TODAY,
    ) -> None:
        """``alone``: nothing else of this program computes at this moment."""
        self._alone = alone
        self._read = read
        self._now = now
        self._today = today
        self.begin()

    def begin(self) -> None:
        """Look from now on, not from before."""
        self._began_s = self._now()
        self._before = self._read()
        self._seen_alone = self._alone()

    def look(self) -> None:
        """Note whether something else of this program computes; called in between, often."""
        self._seen_alone = self._seen_alone and self._alone()

    def conditions(self) -> MeasuringConditions:
        """Of the time since it began."""
        self.look()
        took_s = max(self._now() - self._began_s, 1e-3)
        (busy, own), (busy_before, own_before) = self._read(), self._before
        others_s = (busy - busy_before) - (own - own_before) - _TICK_S
        return MeasuringConditions(
            measured=f"{self._today():%Y-%m-%d %H:%M} UTC",
            others_cores=round(max(0.0, others_s) / took_s, 2),
            alone=self._seen_alone,
        )
