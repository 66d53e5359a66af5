"""The way of played sound back into the microphone: the canceller, what it leaves, who may speak.

Three lines, one behind the other: the canceller; the echo that is to be expected behind it, which
quietens what it explains and says by how much each window is louder; and, where the rest of the
echo is as loud as the person, half duplex (docs/decisions/open-speakers.md).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, Resampler
from s2s.core.clock import Clock
from s2s.transport.drift import PacedStream
from s2s.transport.echo import DuplexGuard, EchoCanceller, EchoError
from s2s.transport.expected_echo import ExpectedEcho
from s2s.transport.ring import Ring

log = logging.getLogger(__name__)

EXPLAINED_DB = 3.0
"""A window that is louder than its echo by no more than this is echo."""
UNEXPLAINED_DB = 6.0
"""From this on it is passed as it is; in between it is quietened in part."""
QUIETENED_DB = -24.0
"""What is done to a window that is echo: the recogniser then hears no words in it."""
_HOLD_WINDOWS = 5
"""After a window that was passed, 160 ms are: the soft end of a word."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A window of the microphone without the loudspeaker."""

    block: Block
    """float32 [512] at 16 kHz."""
    over_echo_db: float
    """By how much it is louder than the echo that was to be expected in it; infinite where none
    was."""
    cancelled: Block
    """What the canceller made of it, float32 [512], before the rest of the echo was turned down; as
    it was heard where the echo is weak."""


class EchoPath:
    """What was played, on its way to the canceller, and whether both sides may speak at once."""

    def __init__(
        self,
        mode: Literal["auto", "on", "off"],
        output_hz: int,
        clock: Clock,
        notice: Callable[[str], None],
        *,
        frozen_noise: bool = True,
    ) -> None:
        """`frozen_noise`: see `ExpectedEcho`."""
        self.played = Ring(clock, output_hz)
        """Written by the loudspeaker's callback."""
        self._clock = clock
        self._notice = notice
        self._resampler = Resampler(output_hz, PIPELINE_HZ)
        self._far = PacedStream()
        self._guard = DuplexGuard()
        self._expected = ExpectedEcho(frozen_noise=frozen_noise)
        self._uncancelled = _Uncancelled(ExpectedEcho(frozen_noise=frozen_noise))
        self._quietener = _Quietener()
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
        """Nothing is heard while the assistant speaks."""
        return self._guard.half_duplex

    @property
    def erle_db(self) -> float | None:
        """What the canceller takes out of the microphone, dB; None when no echo was heard."""
        return self._guard.erle_db

    @property
    def delay_ms(self) -> float | None:
        """From the loudspeaker's buffer to its echo in the microphone; None while not known."""
        return self._expected.delay_ms

    @property
    def drift_ppm(self) -> float:
        """By how much the loudspeaker's clock runs faster than the microphone's."""
        return self._far.drift_ppm

    def own_voice_heard(self) -> None:
        self._tell(self._guard.self_heard())

    def clean(self, near: Block) -> Cleaned:
        """Take the loudspeaker out of the microphone's window `near`, float32 [512] at 16 kHz."""
        new = self.played.read(0, deadline_s=self._clock.now())
        arrived = len(new) * PIPELINE_HZ / self._resampler.in_hz
        self._far.write(self._resampler.push(new), arrived)
        far = self._far.read(len(near))
        cleaned = near if self._canceller is None else self._canceller.process(near, far)
        over_db = self._expected.hear(near, far, cleaned)
        known, person = self._expected.known, UNEXPLAINED_DB < over_db < np.inf
        self._tell(self._guard.hear(near, far, cleaned, known=known, person=person))
        if self._canceller is not None:
            whole, whole_db = self._uncancelled.hear(near, far)
            if self._guard.weak_echo:
                return Cleaned(self._quietener.process(whole, whole_db), whole_db, whole)
        return Cleaned(self._quietener.process(cleaned, over_db), over_db, cleaned)

    def _tell(self, text: str | None) -> None:
        if text is not None:
            self._notice(text)


class _Uncancelled:
    """The microphone as it is, in step with what the canceller makes of it, and its own expected
    echo."""

    def __init__(self, expected: ExpectedEcho) -> None:
        self._expected = expected
        self._late = np.zeros(EchoCanceller.latency_samples, dtype=np.float32)

    def hear(self, near: Block, far: Block) -> tuple[Block, float]:
        """The window, float32 [512], and by how many dB it is louder than its echo explains."""
        joined = np.concatenate([self._late, near])
        self._late = joined[len(near) :]
        return joined[: len(near)], self._expected.hear(near, far, near)


class _Quietener:
    """Turns down the windows that are echo, without clicks."""

    def __init__(self) -> None:
        self._factor = 1.0
        self._held = 0

    def process(self, block: Block, over_echo_db: float) -> Block:
        over = (over_echo_db - EXPLAINED_DB) / (UNEXPLAINED_DB - EXPLAINED_DB)
        share = float(np.clip(over, 0.0, 1.0))
        self._held = _HOLD_WINDOWS if share == 1.0 else max(0, self._held - 1)
        if self._held:
            share = 1.0
        before, self._factor = self._factor, 10 ** (QUIETENED_DB * (1.0 - share) / 20)
        if before == self._factor == 1.0:
            return block
        ramp = np.linspace(before, self._factor, len(block) + 1, dtype=np.float32)[1:]
        return block * ramp
