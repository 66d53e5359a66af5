"""The two ends of an interruption with a real voice, voice detector and recogniser."""

from __future__ import annotations

from itertools import count

import pytest

from s2s.bench import interruptions
from s2s.models.resources import Resources
from s2s.models.store import Store

TRANSCRIPT_S = 0.1
"""What a transcript costs, on any machine: what it really took would decide with it."""


@pytest.mark.models
def test_a_spoken_mm_hmm_goes_on_and_spoken_words_stop() -> None:
    """livekit/agents#4039: resuming broke unnoticed, since no test had a real "mhmm"."""
    store = Store()
    say = interruptions.voice("hibari", Resources(store, 1))
    ticks = count()
    listener = interruptions.Listener(store, lambda: TRANSCRIPT_S * next(ticks))
    question = say(interruptions.QUESTION)
    for text, nod in (("Mm-hmm.", True), ("Yeah.", True), ("Tell me about Paris.", False)):
        clip = interruptions.Clip(text, "hibari", say(text), nod)
        outcome = interruptions.hold(clip, question, listener)
        assert outcome.right, outcome
        if not nod:
            assert outcome.stop_ms < 700
