"""The way of played sound back into the microphone: the canceller, and who may speak at once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, Resampler, empty
from s2s.core.clock import Clock
from s2s.transport.echo import DuplexGuard, EchoCanceller, EchoError
from s2s.transport.ring import Ring

log = logging.getLogger(__name__)

MAX_FAR_AHEAD = PIPELINE_HZ // 10
"""Played samples kept for the canceller beyond what the microphone has reached."""


class EchoPath:
    """What was played, on its way to the canceller, and whether both sides may speak at once."""

    def __init__(
        self,
        mode: Literal["auto", "on", "off"],
        output_hz: int,
        clock: Clock,
        notice: Callable[[str], None],
    ) -> None:
        self.played = Ring(clock, output_hz)
        """Written by the loudspeaker's callback."""
        self._clock = clock
        self._notice = notice
        self._resampler = Resampler(output_hz, PIPELINE_HZ)
        self._far = empty()
        self._guard = DuplexGuard()
        self._canceller: EchoCanceller | None = None
        if mode != "off":
            try:
                self._canceller = EchoCanceller()
            except EchoError:
                if mode == "on":
                    raise
                log.info("no echo canceller installed: use headphones, or the extra 'echo'")

    @property
    def half_duplex(self) -> bool:
        return self._guard.half_duplex

    @property
    def erle_db(self) -> float | None:
        """What the canceller takes out of the microphone, dB; None when no echo was heard."""
        return self._guard.erle_db

    def own_voice_heard(self) -> None:
        self._tell(self._guard.self_heard())

    def clean(self, near: Block) -> Block:
        """Take the loudspeaker out of the microphone's window `near`, float32 [512] at 16 kHz."""
        far = self._played_meanwhile(len(near))
        cleaned = near if self._canceller is None else self._canceller.process(near, far)
        self._tell(self._guard.hear(near, far, cleaned))
        return cleaned

    def _played_meanwhile(self, count: int) -> Block:
        new = self.played.read(0, deadline_s=self._clock.now())
        self._far = np.concatenate([self._far, self._resampler.push(new)])
        surplus = len(self._far) - count - MAX_FAR_AHEAD
        if surplus > 0:  # the two devices' clocks drift, or the microphone started late
            self._far = self._far[surplus:]
        far = np.zeros(count, dtype=np.float32)
        taken = min(count, len(self._far))
        far[:taken] = self._far[:taken]
        self._far = self._far[taken:]
        return far

    def _tell(self, text: str | None) -> None:
        if text is not None:
            self._notice(text)
