"""What it costs, and wins, that answers begin before it is certain that the turn is over.

On pauses that were heard, with two waits for each: after one the answer may begin, after the other
it is certain. Knows no model and no evidence; `s2s.turns.provisional` has the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from s2s.core.audio import PIPELINE_HZ

MS = PIPELINE_HZ // 1000


class PauseTimes(Protocol):
    """A pause of a turn, in the order in which they came. Samples of the turn's audio."""

    @property
    def turn(self) -> str:
        """Of which turn."""
        ...

    @property
    def end(self) -> int:
        """One past the last speech, as it was found."""
        ...

    @property
    def noticed(self) -> int:
        """When that was found."""
        ...

    @property
    def back(self) -> int | None:
        """When the returning speech was noticed; None at the end of the turn."""
        ...

    @property
    def true_end(self) -> int:
        """One past the last sound of the turn."""
        ...


P = TypeVar("P", bound=PauseTimes)


@dataclass(frozen=True, slots=True)
class StartCosts:
    """One pair of waits over all turns."""

    begun: int
    """Answers that began to be heard, those that were taken back and those that cut included."""
    taken_back: int
    taken_back_share: float
    """Of those that began."""
    heard_ms: float
    """Median of what was heard of an answer that was taken back; 0 without any."""
    cut_pauses: float
    """Share of mid-turn pauses that ended the turn."""
    first_sound_p50_ms: float
    """From the true end of speech to when the answer may be heard; also the next three."""
    first_sound_p90_ms: float
    first_sound_mean_ms: float
    over_1s: float
    certain_p90_ms: float
    """From the true end of speech to the commit."""
    won_mean_ms: float
    """How much earlier answers are heard than certain, mean over all ends."""


def costs(
    pauses: Sequence[P],
    speak_ms: Callable[[P], float],
    commit_ms: Callable[[P], float],
    models_ms: float,
) -> StartCosts:
    """Let an answer begin after `speak_ms` of silence and be certain after `commit_ms`; it is ready
    `models_ms` after the pause was noticed. Of each turn one start is taken back at most."""
    interrupted: set[str] = set()
    sounds: list[float] = []
    certain: list[float] = []
    heard: list[float] = []
    cut = middle = 0
    for pause in pauses:
        ready = pause.noticed + models_ms * MS
        commit = max(pause.end + commit_ms(pause) * MS, ready)
        speak = commit
        if pause.turn not in interrupted:
            speak = min(commit, max(pause.end + speak_ms(pause) * MS, ready))
        if pause.back is None:
            sounds.append((speak - pause.true_end) / MS)
            certain.append((commit - pause.true_end) / MS)
            continue
        middle += 1
        if commit < pause.back:
            cut += 1
        elif speak < pause.back:
            interrupted.add(pause.turn)
            heard.append((pause.back - speak) / MS)
    begun = len(sounds) + cut + len(heard)
    return StartCosts(
        begun,
        len(heard),
        len(heard) / max(begun, 1),
        float(np.median(heard)) if heard else 0.0,
        cut / max(middle, 1),
        float(np.percentile(sounds, 50)),
        float(np.percentile(sounds, 90)),
        float(np.mean(sounds)),
        float(np.mean(np.array(sounds) > 1000)),
        float(np.percentile(certain, 90)),
        float(np.mean(np.array(certain) - np.array(sounds))),
    )
