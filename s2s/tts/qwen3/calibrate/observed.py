"""What utterances really cost, against what was measured before: pure numbers, knowing no model.

Two estimates run. One follows every utterance, whatever else computes: the schedule of the next one
is made from it. The other follows only those during which nothing else computed: it is what the
machine can do, and what is kept for the next session.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from s2s.tts.qwen3.calibrate.cache import USUAL_CHUNK, Speed
from s2s.tts.qwen3.calibrate.conditions import MeasuringConditions
from s2s.tts.qwen3.engine.costs import Costs, Spent

LEAST_FRAMES = 12
"""A shorter utterance, of less than a second, says little."""
WORTH_KEEPING = 5
"""Good utterances after which a correction is kept for the next session."""
_SHARE = 0.25
"""Of an utterance in the running estimate: four of them replace most of what was thought before."""


class Observed:
    """Follows the utterances of one session."""

    def __init__(self, speed: Speed) -> None:
        self.now = speed
        """What frames cost at present."""
        self._machine = speed
        self._measured = speed
        self._good = 0

    def add(self, spent: Spent, conditions: MeasuringConditions) -> None:
        """An utterance is over."""
        if len(spent.codes_ms) < LEAST_FRAMES or not spent.calls:
            return
        self.now = corrected(self.now, spent)
        if conditions.good:
            self._good += 1
            told = replace(conditions, utterances=self._measured.conditions.utterances + self._good)
            self._machine = corrected(self._machine, spent).under(told)

    @property
    def correction(self) -> Speed | None:
        """What to keep for the next session; None when too little was heard."""
        return self._machine if self._good >= WORTH_KEEPING else None

    @property
    def factor(self) -> float:
        """The codes of a frame by the good utterances, over what was measured before."""
        return self._machine.codes_ms / max(self._measured.codes_ms, 1e-3)


def corrected(speed: Speed, spent: Spent) -> Speed:
    """A speed moved towards what an utterance took. Its real-time factor moves along."""
    costs = speed.costs
    codes_ms = costs.codes_ms + _SHARE * (median(spent.codes_ms) - costs.codes_ms)
    expected_ms = sum(costs.decoded_ms(frames) for frames, _ in spent.calls)
    took_ms = sum(took_ms for _, took_ms in spent.calls)
    factor = 1 + _SHARE * (took_ms / expected_ms - 1) if expected_ms > 0 else 1.0
    moved = Costs(codes_ms, factor * costs.call_ms, factor * costs.decode_ms, costs.overlapped)
    before_ms = costs.frame_ms(USUAL_CHUNK)
    rtf = speed.real_time * moved.frame_ms(USUAL_CHUNK) / before_ms if before_ms > 0 else 0.0
    rounded = Costs(
        round(moved.codes_ms, 3),
        round(moved.call_ms, 3),
        round(moved.decode_ms, 3),
        costs.overlapped,
    )
    found = Speed.of(speed.threads, speed.draft_tokens, rounded, rtf)
    return found.under(speed.conditions)
