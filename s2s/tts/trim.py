"""Cuts the silence before speech, and after it. Knows nothing about models or rates of others.

Neural voices often start with a nearly silent ramp, which a listener hears as delay. Soft onsets
(s, f) lie below the threshold, so a pre-roll before the first loud sample is kept; it reaches back
into blocks that were seen before.
"""

from __future__ import annotations

import numpy as np

from s2s.core.audio import Block, empty

THRESHOLD = 0.01
"""First speech: a sample above 1 % of full scale (the documented behaviour of speech-to-speech)."""

PREROLL_MS = 40
"""Kept before the first loud sample (the documented behaviour of speech-to-speech)."""

TAIL_MS = 200
"""Kept after the last loud sample: the pause between two sentences. hibari's model gives about
490, which a listener hears as hesitation."""


def trimmed(samples: Block, rate_hz: int) -> Block:
    """A sentence, float32 [samples], without its silence: all but 40 ms before the first loud
    sample and all but 200 ms after the last. Nothing of what never becomes loud."""
    samples = LeadTrimmer(rate_hz).push(samples)
    loud = np.flatnonzero(np.abs(samples) > THRESHOLD)
    if not len(loud):
        return samples[:0]
    return samples[: int(loud[-1]) + 1 + rate_hz * TAIL_MS // 1000]


class LeadTrimmer:
    """Drops leading silence of one utterance. Any split into blocks gives the same samples."""

    def __init__(
        self, rate_hz: int, *, threshold: float = THRESHOLD, preroll_ms: float = PREROLL_MS
    ) -> None:
        if rate_hz < 1:
            raise ValueError(f"rate_hz must be positive, got {rate_hz}")
        if threshold < 0 or preroll_ms < 0:
            raise ValueError(
                f"threshold {threshold} and preroll_ms {preroll_ms} must not be negative"
            )
        self._threshold = threshold
        self._preroll_samples = round(rate_hz * preroll_ms / 1000)
        self.reset()

    def reset(self) -> None:
        """Start a new utterance."""
        self._quiet = empty()
        self._speaking = False

    @property
    def speaking(self) -> bool:
        """Speech has begun: everything from now on passes through."""
        return self._speaking

    def push(self, block: Block) -> Block:
        """Take `block` float32 [samples]; return what may leave, float32 [any samples]."""
        if self._speaking:
            return block
        loud = np.abs(block) > self._threshold
        if not loud.any():
            self._quiet = self._last_preroll(np.concatenate([self._quiet, block]))
            return empty()
        onset = int(np.argmax(loud))
        self._speaking = True
        kept = self._last_preroll(np.concatenate([self._quiet, block[:onset]]))
        self._quiet = empty()
        return np.concatenate([kept, block[onset:]])

    def flush(self) -> Block:
        """End the utterance. Nothing is held back: what never became loud was silence."""
        self.reset()
        return empty()

    def _last_preroll(self, samples: Block) -> Block:
        return samples[max(0, len(samples) - self._preroll_samples) :]
