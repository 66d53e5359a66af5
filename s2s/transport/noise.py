"""Steady noise taken out of the microphone's sound, for bad microphones and loud rooms.

What it helps, and what it costs, is measured in docs/decisions/noise-suppression.md. Everything is
at 16 kHz. Knows no device and no clock.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, Framer

_FRAME_SAMPLES = PIPELINE_HZ // 100

Level = Literal[0, 1, 2, 3]
"""How much is taken out at most: 6, 12, 18 or 21 dB."""


class NoiseError(RuntimeError):
    """The suppressor is not there. The message says what to install."""


class NoiseSuppressor:
    """WebRTC's noise suppressor on blocks of any size. Not thread-safe.

    It works on frames of 10 ms; to give blocks of the size that came in, the output is
    `latency_samples` late.
    """

    latency_samples = _FRAME_SAMPLES
    """How much later a sample comes out because of the framing: 10 ms."""

    def __init__(self, level: Level = 0) -> None:
        """Start without knowledge of the noise.

        Raises:
            NoiseError: pywebrtc-audio is not installed.
        """
        try:
            import pywebrtc_audio
        except ImportError as error:
            raise NoiseError(
                "no noise suppressor: install the extra with pip install 's2s[echo]', or set "
                "audio.suppress_noise to false"
            ) from error
        self._suppressor = pywebrtc_audio.NoiseSuppressor(PIPELINE_HZ, 1, level)
        self._frames = Framer(_FRAME_SAMPLES)
        self._ready = np.zeros(self.latency_samples, dtype=np.float32)

    def process(self, block: Block) -> Block:
        """`block` float32 [samples] with less noise: float32 [samples], `latency_samples` late."""
        cleaned = [self._suppressor.process(frame.copy()) for frame in self._frames.push(block)]
        ready = np.concatenate([self._ready, *cleaned])
        self._ready = ready[len(block) :]
        return ready[: len(block)]
