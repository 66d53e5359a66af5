"""Short sounds that tell when it begins to listen and when it ends: nobody looks at a screen then.

That an answer is worked on is told by `s2s.session.sign_of_life`, that one failed by
`s2s.transport.sender`. Knows no device.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from s2s.core.audio import Block
from s2s.core.events import Event, Listening, MicrophoneState

LEVEL = 0.05
"""Amplitude: softer than a voice, and than a sign of life."""
TONE_S = 0.06
LOW_HZ, HIGH_HZ = 587.33, 880.0
"""D and the A above it."""
HEARS: frozenset[Listening] = frozenset(("open", "awake", "talking"))


class ListeningCues:
    """Takes a session's events. Any thread, one at a time.

    Args:
        play: plays float32 [samples] at `rate_hz` at once.
    """

    def __init__(self, play: Callable[[Block], None], rate_hz: int) -> None:
        self._play = play
        self._begins = two_tones(rate_hz, LOW_HZ, HIGH_HZ)
        self._ends = two_tones(rate_hz, HIGH_HZ, LOW_HZ)
        self._hears: bool | None = None
        """None before anything was told."""

    def on_event(self, event: Event) -> None:
        if not isinstance(event, MicrophoneState):
            return
        hears = event.state in HEARS
        if hears and not self._hears:
            self._play(self._begins)
        elif not hears and self._hears:
            self._play(self._ends)
        self._hears = hears


def two_tones(rate_hz: int, first_hz: float, second_hz: float) -> Block:
    """Two soft tones, one behind the other: float32 [samples], without clicks."""
    t = np.arange(int(TONE_S * rate_hz)) / rate_hz
    fade = np.sin(np.pi * np.arange(len(t)) / max(1, len(t) - 1))
    tones = [LEVEL * fade * np.sin(2 * np.pi * hz * t) for hz in (first_hz, second_hz)]
    return np.concatenate(tones).astype(np.float32)
