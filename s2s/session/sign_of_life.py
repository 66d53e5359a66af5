"""When a sign of life is due: an answer takes long to start, and is not about to. Once a turn."""

from __future__ import annotations

from s2s.llm.first_words import AwaitedAnswer, FirstWords

LEAST_S = 0.4
"""A model that was asked has at least so long, however long the person has waited before."""
SOON_S = 0.7
"""First words that are expected within this are waited for: docs/decisions/sign-of-life.md."""


class SignOfLifeClock:
    """Says when. One for each session, asked from one thread.

    Args:
        after_s: how long after the end of speech an answer may take to start without a sign.
    """

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._given = ""
        """The turn that had its sign."""

    def due(self, now_s: float, words: FirstWords) -> AwaitedAnswer | None:
        """The answer whose sign is due now; from then on its turn has none due."""
        awaited = words.awaited
        if awaited is None or awaited.response.turn_id == self._given:
            return None
        if now_s < due_at_s(awaited, self._after_s, words.usual_s):
            return None
        self._given = awaited.response.turn_id
        return awaited


def due_at_s(awaited: AwaitedAnswer, after_s: float, usual_s: float | None) -> float:
    """When a sign is due, by the same clock.

    Args:
        awaited: the answer.
        after_s: how long it may take after the end of speech.
        usual_s: what the first words usually take; None: not known. If they are expected soon
            after a sign was due, it comes only when they are late.
    """
    due_s = max(awaited.stopped_at_s + after_s, awaited.asked_at_s + LEAST_S)
    if usual_s is not None and 0 <= awaited.asked_at_s + usual_s - due_s <= SOON_S:
        return awaited.asked_at_s + usual_s + SOON_S
    return due_s
